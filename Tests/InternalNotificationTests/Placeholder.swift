// Filled by the SDK tests.
