"""The bus from Python: registers a name, sets its state and posts, and tells what comes.

The library is found by the loader, or where INTEL_NOTIFY says.
"""
import ctypes
import os

notify = ctypes.CDLL(os.environ.get("INTEL_NOTIFY", "libintel-notify.so.1"))
token, changed, state = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint64()
status = notify.notify_register_check(b"com.example.window", ctypes.byref(token))
if status != 0:
    raise SystemExit(f"register: status {status}")
notify.notify_check(token, ctypes.byref(changed))  # the first check is always true
notify.notify_set_state(token, ctypes.c_uint64(2**64 - 1))
notify.notify_post(b"com.example.window")
notify.notify_check(token, ctypes.byref(changed))
notify.notify_get_state(token, ctypes.byref(state))
print(f"com.example.window: changed {changed.value}, state {state.value}")
notify.notify_cancel(token)
