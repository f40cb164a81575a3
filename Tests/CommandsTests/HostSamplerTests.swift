import Basics
import LinuxIO
import Testing

@testable import Commands

/// A proc of our own.
private func makeProc(_ files: [String: String]) throws -> String {
    let root = try Files.makeTemporaryFolder("intel-proc")
    for (name, text) in files {
        try Files.makeFolder(Files.parent(of: root + "/" + name))
        try Files.write(text, to: root + "/" + name)
    }
    return root
}

private func texts(_ samples: [HostSample]) -> [String: String] {
    var found: [String: String] = [:]
    for sample in samples { found[sample.kind] = String(decoding: sample.payload, as: UTF8.self) }
    return found
}

@Test func aSnapshotOfAKnownMachine() throws {
    let network = """
        Inter-|   Receive                                                |  Transmit
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
            lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0
          eth0:1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0
        """
    let root = try makeProc([
        "stat": "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1\ncpu1 1 1\nctxt 5\n",
        "meminfo": "MemTotal:  2048 kB\nMemAvailable:   1024 kB\nSwapTotal: 0 kB\n",
        "loadavg": "0.52 1.05 10.00 2/345 6789\n",
        "uptime": "3600.25 7000.00\n",
        "pressure/io": "some avg10=1.50 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00\n",
        "net/dev": network,
        "diskstats": " 8 0 sda 1 0 10 0 2 0 20 0 0 30 0 0 0 0\n 8 1 sda1 1 0 1 0 1 0 1 0 0 3 0\n",
    ])
    defer { Files.removeTree(root) }
    var sampler = HostSampler(root: root)
    let first = texts(sampler.sample())
    #expect(first["host.cpu"] == #"{"processors":2}"#)
    #expect(first["host.memory"] == #"{"total":2097152,"available":1048576,"swap_total":0}"#)
    #expect(
        first["host.load"]
            == #"{"load1":0.52,"load5":1.05,"load15":10.00,"running":2,"tasks":345}"#
    )
    #expect(first["host.uptime"] == #"{"seconds":3600.25}"#)
    #expect(first["host.pressure"] == #"{"io":1.50}"#)
    #expect(first["host.network"] == nil && first["host.disk"] == nil)

    try Files.write("cpu  150 0 100 850 0 0 0 0 0 0\n", to: root + "/stat")
    try Files.write(
        " 8 0 sda 4 0 110 0 2 0 20 0 0 35 0 0 0 0\n",
        to: root + "/diskstats"
    )
    let second = texts(sampler.sample())
    #expect(second["host.cpu"]?.contains(#""busy":50.00,"user":50.00,"system":0.00"#) == true)
    #expect(
        second["host.disk"]
            == #"{"disks":[{"name":"sda","reads":3,"read_bytes":51200,"writes":0,"#
            + #""written_bytes":0,"busy_ms":5}]}"#
    )
    #expect(second["host.network"]?.contains(#""name":"eth0","received_bytes":0"#) == true)
}

@Test func thisMachineGivesValidJSON() throws {
    var sampler = HostSampler()
    _ = sampler.sample()
    let samples = sampler.sample()
    #expect(samples.contains { $0.kind == "host.memory" })
    for sample in samples {
        try sample.payload.withUnsafeBytes { _ = try JSONScanner.validate($0) }
    }
}

@Test func aProcWithoutSenseGivesNothing() throws {
    let root = try makeProc([
        "stat": "cpu x\n", "meminfo": "\n:::\n", "loadavg": "a b c d\n", "uptime": "-\n",
        "net/dev": "a\nb\nc:\n:\n", "diskstats": "8 0 sda\n", "self/mounts": "/dev/x\n/dev/y / \n",
    ])
    defer { Files.removeTree(root) }
    var sampler = HostSampler(root: root)
    _ = sampler.sample()
    #expect(sampler.sample().isEmpty)
}

@Test func wholeDisksOnly() {
    for name in ["sda", "vda", "nvme0n1", "mmcblk0", "dm-0", "md127", "sr0"] {
        #expect(HostSampler.isWholeDisk(Substring(name)), "\(name)")
    }
    for name in ["sda1", "nvme0n1p2", "mmcblk0p1", "loop0", "ram3", "zram0", ""] {
        #expect(!HostSampler.isWholeDisk(Substring(name)), "\(name)")
    }
}

@Test func mountPathsAreDecoded() {
    #expect(MountPath.decoded("/a\\040b\\134c") == "/a b\\c")
    #expect(MountPath.decoded("/plain\\9") == "/plain\\9")
}
