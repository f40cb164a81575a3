internal import LinuxIO

extension ColumnBatchDecoder {
    /// What the directory says of a column, without unpacking it.
    package struct ColumnInfo: Equatable {
        /// JSON Pointer over the keys as they are written; `*` stands for items from the 16th on.
        package var path: String
        /// True if the values are strings, false if they are numbers and words.
        package var isString: Bool
        /// Values in it.
        package var count: Int
        /// How they are kept.
        package var form: Form
        /// Bounds of the values, where all are integers.
        package var bounds: ClosedRange<Int64>?

        /// How a column keeps its values.
        package enum Form: Equatable {
            case constant, plain, pattern, integers, decimals
            /// With so many entries.
            case dictionary(Int)
        }
    }

    /// One value and the place in the batch of its record.
    package struct ColumnValue<Value: Equatable>: Equatable {
        package var record: Int32
        package var value: Value

        /// A value as given.
        package init(record: Int32, value: Value) {
            self.record = record
            self.value = value
        }
    }

    /// All columns, in the order of the directory; none where the payloads are rows.
    package func directory() throws(DamagedBatch) -> [ColumnInfo] {
        guard let image = try image() else { return [] }
        return image.paths.indices.map { info($0, image) }
    }

    /// Records whose payloads are in no column: rows of their own beside the columns, or all where
    /// the batch is rows.
    package func recordsWithoutColumns() throws(DamagedBatch) -> [Int32] {
        guard let image = try image() else { return (0..<Int32(count)).map { $0 } }
        let shapeOf = try shapes(image)
        return (0..<Int32(count)).filter { Int(shapeOf[Int($0)]) == image.shapes.count }
    }

    /// Integers at a path that are within a range, by record.
    ///
    /// A column whose bounds lie outside is not unpacked. Numbers that are no integers of at most
    /// 18 digits in their shortest form (`1.0`, `1e3`) are left out.
    package func integers(
        at path: String,
        within range: ClosedRange<Int64> = .min ... .max
    ) throws(DamagedBatch) -> [ColumnValue<Int64>] {
        guard let image = try image(),
            let column = find(path, Shape.bare, image)
        else { return [] }
        let count = image.counts[column]
        var found: [ColumnValue<Int64>] = []
        if case .integers(let node) = image.nodes[column] {
            if let bounds = node.bounds, !bounds.overlaps(range) { return [] }
            let values = try node.decode(arena)
            try forEach(column, image) { record, place in
                if range.contains(values[place]) {
                    found.append(ColumnValue(record: record, value: values[place]))
                }
            }
        } else {
            let texts = try image.nodes[column].decode(arena, count: count)
            try forEach(column, image) { record, place in
                if let value = NumberText.integer(texts[place]), range.contains(value) {
                    found.append(ColumnValue(record: record, value: value))
                }
            }
        }
        return found
    }

    /// Texts at a path, by record: what stands between the quotes of strings, still escaped, or
    /// numbers and words.
    ///
    /// - Parameter text: only values that are just this; a dictionary without it is not unpacked.
    package func texts(
        at path: String,
        isString: Bool,
        equal text: [UInt8]? = nil
    ) throws(DamagedBatch) -> [ColumnValue<[UInt8]>] {
        guard let image = try image(),
            let column = find(path, isString ? Shape.string : Shape.bare, image)
        else { return [] }
        if let text, case .dictionary(let entries, let count, _) = image.nodes[column] {
            let pieces = try entries.decode(arena, count: count)
            if !(0..<count).contains(where: { pieces[$0].bytes.elementsEqual(text) }) { return [] }
        }
        let pieces = try image.nodes[column].decode(arena, count: image.counts[column])
        var found: [ColumnValue<[UInt8]>] = []
        try forEach(column, image) { record, place in
            if let text, !pieces[place].bytes.elementsEqual(text) { return }
            found.append(ColumnValue(record: record, value: Array(pieces[place].bytes)))
        }
        return found
    }

    private func find(_ path: String, _ kind: UInt8, _ image: ColumnImage) -> Int? {
        image.paths.firstIndex(of: ColumnPaths.Column(path: Array(path.utf8), kind: kind))
    }

    private func info(_ column: Int, _ image: ColumnImage) -> ColumnInfo {
        var bounds: ClosedRange<Int64>?
        let form: ColumnInfo.Form
        switch image.nodes[column] {
        case .constant(let piece):
            form = .constant
            if image.paths[column].kind == Shape.bare, let value = NumberText.integer(piece) {
                bounds = value...value
            }
        case .plain: form = .plain
        case .pattern: form = .pattern
        case .decimals: form = .decimals
        case .dictionary(_, let count, _): form = .dictionary(count)
        case .integers(let node):
            form = .integers
            bounds = node.bounds
        }
        return ColumnInfo(
            path: String(decoding: image.paths[column].path, as: UTF8.self),
            isString: image.paths[column].kind == Shape.string,
            count: image.counts[column],
            form: form,
            bounds: bounds
        )
    }

    /// Calls `body` with the record of each value of a column.
    private func forEach(
        _ column: Int,
        _ image: ColumnImage,
        _ body: (_ record: Int32, _ place: Int) -> Void
    ) throws(DamagedBatch) {
        let shapeOf = try shapes(image)
        let times = image.shapes.map { shape in shape.columns.count { Int($0) == column } }
        var place = 0
        for record in 0..<image.records where Int(shapeOf[record]) < times.count {
            for _ in 0..<times[Int(shapeOf[record])] {
                body(Int32(truncatingIfNeeded: record), place)
                place += 1
            }
        }
    }
}
