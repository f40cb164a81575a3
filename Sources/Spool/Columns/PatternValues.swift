/// The values of a column of templates and numbers, in memory of an arena, written or stepped over
/// one after another.
struct PatternValues: BitwiseCopyable {
    private let programs: UnsafePointer<Program>
    private let ids: UnsafePointer<Int64>
    private let columns: UnsafeMutablePointer<Numbers>
    private let count: Int

    /// One column of numbers.
    struct Numbers: BitwiseCopyable {
        /// 0: no leading zeros; 1 to 18: digits of each; 0xff: `widths` says.
        var form: UInt8
        /// Place of the next.
        var next: Int
        var values: UnsafePointer<Int64>
        var widths: UnsafePointer<Int64>?
    }

    /// A template cut at its numbers: the literal and the column of each, and what follows.
    struct Program: BitwiseCopyable {
        var literals: UnsafeMutablePointer<Piece>
        var columns: UnsafeMutablePointer<Int>
        var runs: Int
        var tail: Piece
        /// Bytes of all literals.
        var length: Int

        init(_ template: Piece, _ columnOf: ArraySlice<Int>, _ arena: Arena) throws(DamagedBatch) {
            runs = columnOf.count
            literals = try arena.allocate(Piece.self, runs)
            columns = try arena.allocate(Int.self, runs)
            length = template.count - runs
            var (start, run) = (0, 0)
            for index in 0..<template.count where template.start[index] == DigitPattern.marker {
                let literal = Piece(start: template.start + start, count: index - start)
                (literals + run).initialize(to: literal)
                (columns + run).initialize(to: columnOf[columnOf.startIndex + run])
                start = index + 1
                run += 1
            }
            tail = Piece(start: template.start + start, count: template.count - start)
        }
    }

    /// - Parameter count: how many columns of numbers there are.
    init(
        programs: UnsafePointer<Program>,
        ids: UnsafePointer<Int64>,
        columns: UnsafeMutablePointer<Numbers>,
        count: Int
    ) {
        self.programs = programs
        self.ids = ids
        self.columns = columns
        self.count = count
    }

    /// What all of `count` values take at the most.
    func bytesMax(_ count: Int) throws(DamagedBatch) -> Int {
        var total = 0
        for index in 0..<count {
            let program = program(index)
            total += program.length + program.runs * NumberPrinter.bytesMax
            guard total <= ColumnLimits.rawMax * NumberPrinter.bytesMax else { throw .cutOff }
        }
        return total
    }

    /// How to write the value at a place.
    @inline(__always)
    func program(_ place: Int) -> Program { programs[Int(ids[place])] }

    /// Goes back to the first value.
    func rewind() {
        for column in 0..<count { columns[column].next = 0 }
    }

    /// Steps over the value at a place, whose turn it is.
    @inline(__always)
    func skip(_ place: Int) {
        let program = program(place)
        for run in 0..<program.runs { columns[program.columns[run]].next += 1 }
    }

    /// Writes the next number of a column with the width that belongs to it; at most 20 bytes.
    @inline(__always)
    func writeNext(_ column: Int, to out: UnsafeMutablePointer<UInt8>) -> Int {
        let numbers = columns[column]
        columns[column].next = numbers.next + 1
        let value = numbers.values[numbers.next]
        if numbers.form == 0 { return NumberPrinter.write(value, to: out) }
        var width = Int(numbers.form)
        if let widths = numbers.widths { width = Int(widths[numbers.next]) }
        var rest = value.magnitude
        NumberPrinter.writeDigits(&rest, width, to: out)
        return width
    }
}
