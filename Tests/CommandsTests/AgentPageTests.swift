import LinuxIO
import Testing

@testable import Commands

/// man/intel-agent.1 against the parser.
@Suite struct AgentPageTests {
    /// The page's lines that begin with `macro` and name a flag, without that.
    private func flags(_ macro: String, _ page: String) -> [String] {
        page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix(macro + " Fl -") else { return nil }
            return String(line.dropFirst(macro.count + 5).prefix { $0 != " " })
        }
    }

    @Test("every flag of intel agent is on its page, in the synopsis and by itself, and no other")
    func flagsAreThose() throws {
        let root = Files.parent(of: Files.parent(of: Files.parent(of: #filePath)))
        let page = String(
            decoding: try Files.contents(root + "/man/intel-agent.1"),
            as: UTF8.self
        )
        let names = AgentCommand.definition.flags.map(\.name)
        #expect(names.count > 8)
        #expect(flags(".Op", page).sorted() == names.sorted())
        #expect(flags(".It", page).sorted() == names.sorted())
        for flag in AgentCommand.definition.flags {
            for choice in flag.choices {
                #expect(page.contains("\n.Cm \(choice)\n") || page.contains("\n.Cm \(choice) "))
            }
        }
        for flag in RetentionFlags.all {
            let variable = flag.name.uppercased().map { $0 == "-" ? "_" : $0 }
            #expect(page.contains("INTEL_" + String(variable)))
        }
    }
}
