import Spool
import Testing

@Suite struct GlobTests {
    @Test(arguments: [
        ("*", "", true), ("*", "a.b", true), ("com.*", "com.a", true), ("com.*", "org.a", false),
        ("*.pos", "com.a.pos", true), ("*.pos", "com.a.pos2", false), ("a?c", "abc", true),
        ("a?c", "ac", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false),
        ("[^a-c]x", "dx", true), ("[]]", "]", true), ("[", "[", true), ("a[", "a[", true),
        ("[a-]", "-", true), ("\\*", "*", true), ("\\*", "x", false), ("a*b*c", "a1b2b3c", true),
        ("a*b*c", "a1b2b3", false), ("", "", true), ("", "a", false), ("**", "abc", true),
    ])
    func matches(pattern: String, text: String, isExpected: Bool) {
        #expect(Glob(pattern).matches(text) == isExpected)
    }

    @Test func manyStarsStayQuick() {
        let pattern = Glob(String(repeating: "a*", count: 60) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 5_000)))
    }
}
