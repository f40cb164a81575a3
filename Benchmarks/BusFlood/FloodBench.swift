// A client that floods the bus, and two that talk beside it, for `make bench`:
//     bus-flood list          prints the kinds of floods
//     bus-flood KIND          floods as user `nobody` until it is ended
//     bus-flood talk ROUNDS   prints one round trip between two clients (ns) a line
// The bus is that of INTEL_BUS.
internal import Glibc
internal import LinuxIO
internal import NotifyClient
internal import TestKit

let arguments = CommandLine.arguments.dropFirst()
let path = Environment["INTEL_BUS"] ?? ""
switch (arguments.first, arguments.dropFirst().first.flatMap { Int($0) }) {
case ("list", _):
    for flood in Flood.allCases { print(flood.rawValue) }
    // What a busy processor alone does to the others, without a word to the broker.
    print("nothing")
case ("talk", let rounds?):
    let (one, two) = (try NotifyClient(path: path), try NotifyClient(path: path))
    let talk = try Talk(one, two)
    _ = try talk.roundTrips(500)
    for time in try talk.roundTrips(rounds) { print(time) }
case ("nothing", _):
    while true {}
case (let name?, _):
    guard let flood = Flood(rawValue: name) else { fallthrough }
    guard setegid(65534) == 0, seteuid(65534) == 0 else {
        StandardError.line("bus-flood: a flood comes from another user: run it as root")
        exit(1)
    }
    try flood.run(path) { false }
default:
    StandardError.line("usage: bus-flood list | KIND | talk ROUNDS")
    exit(64)
}
