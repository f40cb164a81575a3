import LinuxIO
import Spool

/// `power-scenario NAME ROOT full|normal`: does something to the spool in ROOT that a crash or a
/// power cut may interrupt at any call; Tests/SpoolTests/PowerTests.swift has the rest.
func run(_ name: String, _ stage: consuming Stage) throws {
    switch name {
    case "fill":
        try stage.commit(9)
        try stage.close()
    case "fill and compact":
        try stage.commit(9)
        try stage.compact(.pieces)
        try stage.close()
    case "resume":
        try stage.commit(1)
    case "commit":
        try stage.commit(3)
        try stage.checkpoint()
        try stage.commit(2)
        try stage.close()
        try stage.open()
        try stage.commit(2)
    case "compact":
        try stage.compact(.pieces)
        try stage.commit(1)
        try stage.compact(.joined)
        try stage.commit(1)
        try stage.checkpoint()
        try stage.commit(1)
    case "retain":
        try stage.commit(1)
        try stage.retain(30)
        try stage.commit(2)
        try stage.retain(15, isFull: true)
        try stage.commit(2)
        try stage.retain(7)
    case "migrate", "restore":
        try stage.commit(2)
        try stage.compact(.joined)
        try stage.commit(1)
    case "backup":
        try stage.back(up: 1)
        try stage.commit(1)
        try stage.compact(.joined)
        try stage.back(up: 1)
        try stage.commit(3)
        try stage.compact(.pieces)
        try stage.retain(24)
        try stage.back(up: stage.first(), mirrors: true)
    default:
        throw StageError(what: "no scenario '\(name)'")
    }
}
