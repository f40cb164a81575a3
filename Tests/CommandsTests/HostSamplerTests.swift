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
    var sampler = HostSampler(root: root, system: root + "/sys")
    let first = texts(sampler.sample())
    #expect(first["host.cpu"] == #"{"processors":2}"#)
    #expect(first["host.memory"] == #"{"total":2097152,"available":1048576}"#)
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
        "stat": "cpu x\nprocs_running -\nprocesses\n", "vmstat": "pswpin\n", "meminfo": "\n:::\n",
        "loadavg": "a b c d\n", "uptime": "-\n",
        "net/dev": "a\nb\nc:\n:\n", "diskstats": "8 0 sda\n", "self/mounts": "/dev/x\n/dev/y / \n",
    ])
    defer { Files.removeTree(root) }
    var sampler = HostSampler(root: root, system: root + "/sys")
    _ = sampler.sample()
    #expect(sampler.sample().isEmpty)
}

@Test func swapAndProcessesOfAKnownMachine() throws {
    let root = try makeProc([
        "stat": "cpu  1 0 1 8 0 0 0 0 0 0\nprocesses 100\nprocs_running 3\nprocs_blocked 2\n",
        "loadavg": "0.00 0.00 0.00 3/345 6789\n",
        "meminfo": "MemTotal: 8 kB\nSwapCached: 1 kB\nSwapTotal: 1024 kB\nSwapFree: 512 kB\n",
        "vmstat": "pswpin 10\npswpout 20\n",
        "1/stat": "1 (init) S 0 1\n",
        "7/stat": "7 (odd) Z (x) R 1 7\n",
        "8/stat": "8 (gone) Z 1 8\n",
        "9/status": "\n",
        "self/stat": "9 (me) Z 1\n",
    ])
    defer { Files.removeTree(root) }
    var sampler = HostSampler(root: root, system: root + "/sys")
    let first = texts(sampler.sample())
    #expect(
        first["host.swap"] == #"{"total":1048576,"free":524288,"used":524288,"cached":1024}"#
    )
    #expect(
        first["host.processes"]
            == #"{"total":4,"threads":345,"running":3,"blocked":2,"zombies":1}"#
    )
    try Files.write("pswpin 15\npswpout 20\n", to: root + "/vmstat")
    try Files.write("processes 104\n", to: root + "/stat")
    let second = texts(sampler.sample())
    #expect(second["host.swap"]?.hasSuffix(#","pages_in":5,"pages_out":0}"#) == true)
    #expect(second["host.processes"]?.hasSuffix(#","zombies":1,"started":4}"#) == true)
}

@Test func temperaturesOfAKnownMachine() throws {
    let monitors = "sys/class/hwmon/hwmon"
    let zones = "sys/class/thermal/"
    let root = try makeProc([
        monitors + "10/name": "acpitz\n", monitors + "10/temp1_input": "27800\n",
        monitors + "2/name": "coretemp\n", monitors + "2/temp10_input": "46000\n",
        monitors + "2/temp10_label": "Core 8\n", monitors + "2/temp2_input": "45125\n",
        monitors + "2/temp2_label": "Core 0\n", monitors + "2/temp3_input": "hot\n",
        monitors + "2/temp4_input": "", monitors + "2/temp5_input": "-273200\n",
        monitors + "2/temp2_max": "100000\n", monitors + "3/fan1_input": "900\n",
        zones + "thermal_zone0/type": "acpitz\n", zones + "thermal_zone0/temp": "27800\n",
        zones + "thermal_zone1/type": "x86_pkg_temp\n", zones + "thermal_zone1/temp": "-1500\n",
        zones + "cooling_device0/temp": "1000\n",
    ])
    defer { Files.removeTree(root) }
    var sampler = HostSampler(root: root, system: root + "/sys")
    let sensors = [
        #"{"chip":"coretemp","label":"Core 0","celsius":45.12}"#,
        #"{"chip":"coretemp","label":"Core 8","celsius":46.00}"#,
        #"{"chip":"acpitz","label":"temp1","celsius":27.80}"#,
        #"{"chip":"x86_pkg_temp","label":"thermal_zone1","celsius":-1.50}"#,
    ]
    let expected = #"{"sensors":["# + sensors.joined(separator: ",") + "]}"
    #expect(texts(sampler.sample())["host.temperature"] == expected)
    #expect(Temperatures.read(root: root + "/sys", limit: 1).count == 1)
    #expect(Temperatures.read(root: root + "/none", limit: 9).isEmpty)
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
