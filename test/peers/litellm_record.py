"""What a LiteLLM proxy needs to be a gateway in tests: its own record of calls, and its keys.

Owns the file of JSON lines that PARLEY_TEST_RECORD names: one row a call, made by LiteLLM's own function for the rows
of its table of spend, and what the call carried when it came in. Must not change a call.
"""

import json
import os

from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import ProxyException, UserAPIKeyAuth
from litellm.proxy.spend_tracking.spend_tracking_utils import get_logging_payload

KEYS = json.loads(os.environ["PARLEY_TEST_KEYS"])


class Record(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs, response_obj, start_time, end_time)

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs, response_obj, start_time, end_time)

    def write(self, kwargs, response_obj, start_time, end_time):
        row = get_logging_payload(kwargs, response_obj, start_time, end_time)
        line = json.dumps(row, default=as_text)
        with open(os.environ["PARLEY_TEST_RECORD"], "a", encoding="utf-8") as file:
            file.write(line + "\n")


def as_text(value):
    """An instant as the table of spend has it, in UTC."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


async def check_key(request, api_key):
    """Virtual keys without a database; the key of an unknown caller is refused."""
    holder = KEYS.get(api_key)
    if holder is None:
        raise ProxyException(message="Authentication Error, unknown key", type="auth_error", param="key", code=401)
    return UserAPIKeyAuth(api_key=api_key, key_alias=holder["alias"], team_id=holder["team"], user_id=holder["alias"])


record = Record()
