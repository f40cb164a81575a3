internal import SQLite

/// A path into payloads, and what the value there must be.
struct PayloadTest: Sendable {
    var path: PayloadPath
    var values: [ValueTest]

    /// False if the payload cannot be wanted.
    func mayPass(_ payload: UnsafeRawBufferPointer) -> Bool {
        let value = path.value(in: payload)
        return values.allSatisfy { $0.mayPass(value) }
    }
}

/// A comparison of the value at a path with one that the statement says.
///
/// It only turns down what SQLite would turn down too; the rest SQLite looks at again.
struct ValueTest {
    let kind: RecordTest.Kind
    let bound: SQLValue

    /// False if the comparison cannot come out true.
    func mayPass(_ value: SQLValue) -> Bool {
        switch (value, bound) {
        case (.null, _), (_, .null): return false
        case (.integer(let left), .integer(let right)): return holds(left, right)
        case (.real(let left), .real(let right)): return holds(left, right)
        case (.integer(let left), .real(let right)):
            // Beyond 2^53 a whole number has no exact partner.
            return left.magnitude > 1 << 53 || holds(Double(left), right)
        case (.real(let left), .integer(let right)):
            return right.magnitude > 1 << 53 || holds(left, Double(right))
        case (.text(let left), .text(let right)) where kind == .equal:
            // As bytes: Swift finds texts equal that differ only in how they are composed.
            return left.utf8.elementsEqual(right.utf8)
        default: return true
        }
    }

    private func holds<Number: Comparable>(_ left: Number, _ right: Number) -> Bool {
        switch kind {
        case .equal: left == right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        default: true
        }
    }
}
