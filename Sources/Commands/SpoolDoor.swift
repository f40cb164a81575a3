internal import Glibc
internal import Spool

/// Opens a spool to read it.
enum SpoolDoor {
    /// Opens the spool in `folder`.
    ///
    /// Where the kernel does not even tell whether there is one, that is "not allowed" and not
    /// "nothing there".
    static func open(_ folder: String) throws(CommandError) -> SpoolReader {
        do throws(SpoolError) {
            return try SpoolReader(directory: folder)
        } catch {
            guard error.kind == .notFound, isHidden(folder + "/hot.db") else {
                throw CommandError(error)
            }
            throw CommandError(
                "open spool '\(folder)': this user may not look into the folder",
                hint: "run as root or as a member of the folder's group",
                status: ExitStatus.denied
            )
        }
    }

    private static func isHidden(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) != 0 && (errno == EACCES || errno == EPERM)
    }
}
