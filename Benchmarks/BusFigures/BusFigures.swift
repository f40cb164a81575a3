// What the bus costs in numbers of everything, for `make bench`; PID is the broker's.
//     bus-figures posts COUNT                 posts a second, one client, one post a frame
//     bus-figures pool ROUNDS                 ns of 32 KiB into a pool, read by another, and back
//     bus-figures reader                      the other, until it is ended
//     bus-figures subscribers COUNT ROUNDS PID  ns of the broker for each of a post's subscribers
//     bus-figures names COUNT PID             ns and bytes of the broker for each name
//     bus-figures peers COUNT PID             bytes of the broker for each peer of the SDK
// Each prints `name value`, a line each. The bus is that of INTEL_BUS.
internal import Dispatch
internal import InternalNotification
internal import LinuxIO
internal import NotifyClient
internal import NotifyProtocol
internal import TestKit

/// Prints a figure.
func tell(_ name: String, _ value: Double) {
    print(name, String(Int(value.rounded())))
}

@main struct BusFigures {
    static func main() throws {
        Environment.raiseDescriptorLimit()
        let arguments = Array(CommandLine.arguments.dropFirst())
        let path = Environment["INTEL_BUS"] ?? ""
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        let client = try NotifyClient(path: path, attachTimeout: 5_000_000_000)
        switch (arguments.first, numbers.count) {
        case ("posts", 1): try Speed.posts(numbers[0], client)
        case ("pool", 1): try Speed.pool(numbers[0], client)
        case ("reader", 0): try Speed.reader(client)
        case ("subscribers", 3):
            try Scale.subscribers(numbers[0], numbers[1], Int32(numbers[2]), client, path)
        case ("names", 2): try Scale.names(numbers[0], Int32(numbers[1]), client)
        case ("peers", 2): try Scale.peers(numbers[0], Int32(numbers[1]), path)
        default: StandardError.line("usage: see the head of BusFigures.swift")
        }
    }
}
