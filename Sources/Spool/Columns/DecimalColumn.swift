internal import Basics

/// A column of decimals: the digits as integers, all brought to the same number of places where
/// that fits, and the places that each text really has.
enum DecimalColumn {
    /// Appends the column; false if a text is none that mantissa and places give back.
    static func encode(_ pieces: UnsafeBufferPointer<Piece>, _ lanes: inout Lanes) -> Bool {
        let count = pieces.count
        return withUnsafeTemporaryAllocation(of: Int64.self, capacity: count * 2) { room in
            guard let mantissas = room.baseAddress else { return false }
            let places = mantissas + count
            var most = 0
            for (index, piece) in pieces.enumerated() {
                guard let decimal = NumberText.decimal(piece) else { return false }
                mantissas[index] = decimal.mantissa
                places[index] = Int64(decimal.places)
                most = max(most, decimal.places)
            }
            let isAligned = fits(mantissas, places, count, most)
            if isAligned {
                for index in 0..<count {
                    mantissas[index] *= NumberText.powers[most - Int(places[index])]
                }
            }
            lanes.meta.u8(TextColumn.Form.decimals)
            lanes.meta.u8(isAligned ? UInt8(truncatingIfNeeded: most) : 0xff)
            IntegerColumn.encode(
                UnsafeBufferPointer(start: mantissas, count: count),
                withBounds: false,
                meta: &lanes.meta,
                lane: &lanes.numbers
            )
            IntegerColumn.encode(
                UnsafeBufferPointer(start: places, count: count),
                withBounds: false,
                orders: 1...1,
                meta: &lanes.meta,
                lane: &lanes.ids
            )
            return true
        }
    }

    /// True if every mantissa stays within 18 digits when it gets `most` places.
    private static func fits(
        _ mantissas: UnsafePointer<Int64>,
        _ places: UnsafePointer<Int64>,
        _ count: Int,
        _ most: Int
    ) -> Bool {
        for index in 0..<count {
            let more = most - Int(places[index])
            guard more <= NumberText.digitsMax else { return false }
            let limit = NumberText.powers[NumberText.digitsMax - more]
            if mantissas[index].magnitude >= limit.magnitude { return false }
        }
        return true
    }
}
