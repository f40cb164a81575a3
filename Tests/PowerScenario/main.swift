import Glibc
import LinuxIO

let arguments = CommandLine.arguments
guard arguments.count == 4 else {
    StandardError.line("power-scenario NAME ROOT full|normal")
    exit(2)
}
do {
    try run(arguments[1], Stage(root: arguments[2], isFull: arguments[3] == "full"))
} catch {
    StandardError.line("\(error)")
    exit(1)
}
