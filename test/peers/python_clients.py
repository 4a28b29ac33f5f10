"""Clients in Python as they come: the SDKs of OpenAI and Anthropic, and LiteLLM as a client of a gateway of its own kind.

Prints one JSON object: what each call gave, and the class of each exception. Must not set what a user would not set.
Arguments: address of the proxy without /v1, a key.
"""

import json
import sys

import anthropic
import litellm
import openai

BASE, KEY = sys.argv[1], sys.argv[2]
MESSAGES = [{"role": "user", "content": "hello"}]
TOOLS = [{"type": "function", "function": {"name": "terminal", "parameters": {"type": "object", "properties": {}}}}]
results = {}


def keep(name, call):
    try:
        results[name] = call()
    except Exception as error:
        results[name] = {"exception": type(error).__name__, "status": getattr(error, "status_code", None)}


def text_of(chunks):
    choices = [choice for chunk in chunks for choice in chunk.choices]
    return "".join(choice.delta.content or "" for choice in choices)


def streamed(create):
    chunks = list(create(stream=True, stream_options={"include_usage": True}))
    usages = [chunk.usage.total_tokens for chunk in chunks if getattr(chunk, "usage", None)]
    return {"text": text_of(chunks), "tokens": usages}


def tool_of(reply):
    call = reply.choices[0].message.tool_calls[0]
    return {"name": call.function.name, "arguments": call.function.arguments}


def plain(reply):
    return {"text": reply.choices[0].message.content, "tokens": reply.usage.total_tokens}


client = openai.OpenAI(base_url=f"{BASE}/v1", api_key=KEY, max_retries=0)


def create(model="coder", using=client, **more):
    return using.chat.completions.create(model=model, messages=MESSAGES, user="ada", **more)


keep("openai.chat", lambda: plain(create()))
keep("openai.stream", lambda: streamed(create))
keep("openai.tools", lambda: tool_of(create(tools=TOOLS)))
keep("openai.models", lambda: sorted(model.id for model in client.models.list()))
keep("openai.unknown", lambda: create(model="nobody"))
keep("openai.key", lambda: create(using=client.with_options(api_key="sk-wrong")))
for status in (400, 404, 429, 500):
    keep(f"openai.{status}", lambda status=status: create(model=f"fails-{status}"))

speaker = anthropic.Anthropic(base_url=BASE, api_key=KEY, max_retries=0)
SAID = {"max_tokens": 64, "messages": MESSAGES}


def say(model="coder", using=speaker):
    return using.messages.create(model=model, **SAID)


SHOWN = [{"name": "terminal", "input_schema": {"type": "object", "properties": {}}}]
CACHED = [{"type": "text", "text": "Work carefully.", "cache_control": {"type": "ephemeral"}}]


def said(message):
    thought, call = message.content
    usage = message.usage
    return {
        "thinking": thought.thinking,
        "input": call.input,
        "tokens": [usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens, usage.output_tokens],
    }


def said_in_events():
    with speaker.messages.stream(model="coder", **SAID) as events:
        return said(events.get_final_message())


def said_with_all():
    return said(
        speaker.messages.create(
            model="coder",
            max_tokens=64,
            messages=MESSAGES,
            system=CACHED,
            tools=SHOWN,
            thinking={"type": "enabled", "budget_tokens": 32},
            metadata={"user_id": "ada"},
        )
    )


def left():
    with speaker.messages.stream(model="hangs", **SAID) as events:
        return next(iter(events)).type


def broken(model):
    with speaker.messages.stream(model=model, **SAID) as events:
        return events.get_final_message().id


keep("anthropic.message", lambda: said(say()))
keep("anthropic.stream", said_in_events)
keep("anthropic.all", said_with_all)
keep("anthropic.left", left)
keep("anthropic.breaks", lambda: broken("breaks"))
keep("anthropic.overloads", lambda: broken("overloads"))
keep("anthropic.count", lambda: speaker.messages.count_tokens(model="coder", messages=MESSAGES).input_tokens)
keep("anthropic.models", lambda: sorted(model.id for model in speaker.models.list()))
keep("anthropic.unknown", lambda: say("nobody"))
keep("anthropic.key", lambda: say(using=speaker.with_options(api_key="sk-wrong")))
for status in (400, 404, 429, 500):
    keep(f"anthropic.{status}", lambda status=status: say(f"fails-{status}"))

litellm.telemetry = False


def complete(model="coder", key=KEY, **more):
    return litellm.completion(
        model=f"litellm_proxy/{model}", api_base=BASE, api_key=key, messages=MESSAGES, max_retries=0, **more
    )


keep("litellm.chat", lambda: plain(complete()))
keep("litellm.stream", lambda: streamed(complete))
keep("litellm.tools", lambda: tool_of(complete(tools=TOOLS)))
keep("litellm.unknown", lambda: complete(model="nobody"))
keep("litellm.key", lambda: complete(key="sk-wrong"))
for status in (400, 429, 500):
    keep(f"litellm.{status}", lambda status=status: complete(model=f"fails-{status}"))

print(json.dumps(results))
