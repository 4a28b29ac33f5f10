"""The OpenHands SDK as it comes: its remote workspace and conversation, and its cloud workspace.

Prints one JSON object: what each scenario saw. Must not set what a user would not set.
Argument: JSON with what to connect to; a scenario runs when its part is there.
"""

import json
import os
import sys
import time
import traceback

import httpx
from pydantic import SecretStr

import openhands.tools.file_editor  # noqa: F401  registers the tool
import openhands.tools.terminal  # noqa: F401
from openhands.sdk import LLM, Agent, Conversation, RemoteConversation, Tool
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.security.confirmation_policy import AlwaysConfirm, NeverConfirm
from openhands.sdk.workspace import RemoteWorkspace
from openhands.workspace import OpenHandsCloudWorkspace

GIVEN = json.loads(sys.argv[1])
results = {}


def keep(name, scenario):
    try:
        results[name] = scenario()
    except Exception as error:
        results[name] = {"exception": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


def agent_on(base_url, **more):
    llm = LLM(model="openai/coder", api_key=SecretStr(GIVEN["llm_key"]), base_url=base_url, usage_id="agent")
    return Agent(llm=llm, tools=[Tool(name="terminal"), Tool(name="file_editor")], **more)


def converse(workspace, base_url, **more):
    seen = []
    conversation = Conversation(
        agent=agent_on(base_url),
        workspace=workspace,
        callbacks=[lambda event: seen.append(type(event).__name__)],
        visualizer=None,
        **more,
    )
    return conversation, seen


def until(conversation, status):
    for _ in range(600):
        if conversation.state.refresh_from_server()["execution_status"] == status:
            return status
        time.sleep(0.1)
    return conversation.state.refresh_from_server()["execution_status"]


def until_it_acts(conversation):
    """An interrupt that comes before the first action leaves no result that says so."""
    for _ in range(600):
        if any(type(event).__name__ == "ActionEvent" for event in conversation.state.events):
            return
        time.sleep(0.1)
    raise TimeoutError("the agent did nothing")


def ids(conversation):
    return [event.id for event in conversation.state.events if type(event).__name__ != "ConversationStateUpdateEvent"]


def texts(conversation):
    return " ".join(event.model_dump_json() for event in conversation.state.events)


def work(workspace):
    run = workspace.execute_command("printf out; printf err >&2; exit 3")
    here = os.path.join(os.environ["HOME"], "sent.bin")
    with open(here, "wb") as file:
        file.write(bytes(range(256)))
    sent = workspace.file_upload(here, f"{workspace.working_dir}/sent.bin")
    got = workspace.file_download(f"{workspace.working_dir}/sent.bin", here + ".back")
    with open(here + ".back", "rb") as file:
        same = file.read() == bytes(range(256))
    return {
        "command": [run.exit_code, run.stdout, run.stderr],
        "files": [sent.success, got.success, same],
        "missing": workspace.execute_command("no-such-program").exit_code,
        "alive": workspace.alive,
    }


def git(workspace):
    workspace.execute_command("echo changed > README.md", cwd=workspace.working_dir)
    changes = workspace.git_changes(".")
    diff = workspace.git_diff("README.md")
    return {"changes": [[change.status.value, str(change.path)] for change in changes], "modified": diff.modified}


def finished(workspace, base_url):
    conversation, seen = converse(workspace, base_url, secrets={"TOKEN": "sdk-secret-value"}, tags={"team": "blue"})
    conversation.send_message("do the work")
    conversation.run()
    aside = conversation.ask_agent("how far are you?")
    conversation.condense()
    conversation.set_title("Renamed")
    state = conversation.state.refresh_from_server()
    attached = RemoteConversation.attach(workspace, conversation.id, visualizer=None)
    result = {
        "status": conversation.state.execution_status.value,
        "kinds": [kind for kind in seen if kind != "ConversationStateUpdateEvent"],
        "aside": aside,
        "title": state["title"],
        "tags": state["tags"],
        "hides": "sdk-secret-value" not in texts(conversation),
        "cost": conversation.conversation_stats.get_combined_metrics().accumulated_cost > 0,
        "attached": [attached.state.execution_status.value, ids(attached) == ids(conversation)],
    }
    attached.close()
    conversation.close()
    return result


def confirmed(workspace, base_url):
    conversation, _ = converse(workspace, base_url, delete_on_close=True)
    conversation.set_confirmation_policy(AlwaysConfirm())
    conversation.set_security_analyzer(None)
    conversation.send_message("ask before you act")
    conversation.run()
    steps = [conversation.state.execution_status.value]
    conversation.reject_pending_actions("not this way")
    conversation.run()
    steps.append(conversation.state.execution_status.value)
    conversation.run()
    steps.append(conversation.state.execution_status.value)
    conversation.set_confirmation_policy(NeverConfirm())
    conversation.run()
    steps.append(conversation.state.execution_status.value)
    rejected = [event.rejection_reason for event in conversation.state.events if hasattr(event, "rejection_reason")]
    policy = type(conversation.state.confirmation_policy).__name__
    identity = conversation.id
    conversation.close()
    gone = workspace.client.get(f"/api/conversations/{identity}").status_code
    return {"steps": steps, "rejected": rejected, "policy": policy, "deleted": gone}


def stopped(workspace, base_url):
    conversation, _ = converse(workspace, base_url)
    conversation.send_message("take your time")
    conversation.run(blocking=False)
    until_it_acts(conversation)
    conversation.interrupt()
    steps = [until(conversation, "paused")]
    conversation.run()
    steps.append(conversation.state.execution_status.value)
    kinds = [type(event).__name__ for event in conversation.state.events]
    conversation.close()
    return {"steps": steps, "interrupted": "InterruptEvent" in kinds}


def failed(workspace, base_url):
    conversation, _ = converse(workspace, base_url)
    conversation.send_message("be refused")
    try:
        conversation.run()
        return {"error": None}
    except ConversationRunError as error:
        return {"error": error.conversation_error.code if error.conversation_error else str(error)}
    finally:
        conversation.close()


def direct(part):
    workspace = RemoteWorkspace(host=part["host"], api_key=part["key"], working_dir=part["working_dir"])
    keep("direct.workspace", lambda: work(workspace))
    keep("direct.git", lambda: git(workspace))
    keep("direct.finished", lambda: finished(workspace, part["llm"]))
    keep("direct.confirmed", lambda: confirmed(workspace, part["llm"]))
    keep("direct.stopped", lambda: stopped(workspace, part["llm"]))
    keep("direct.failed", lambda: failed(workspace, part["llm"]))


def cloud(part):
    def rest(method, path):
        answer = httpx.request(method, f"{part['url']}{path}", headers={"Authorization": f"Bearer {part['key']}"})
        return answer.json()

    def status_of(identity):
        record = rest("GET", f"/api/v1/sandboxes?id={identity}")[0]
        return None if record is None else record["status"]

    def until_status(identity, wanted):
        for _ in range(600):
            if status_of(identity) == wanted:
                break
            time.sleep(0.1)
        return status_of(identity)

    def life():
        given = {"cloud_api_url": part["url"], "cloud_api_key": part["key"], "working_dir": part["working_dir"]}
        workspace = OpenHandsCloudWorkspace(**given)
        identity = workspace._sandbox_id
        first_key = workspace.api_key
        steps = [status_of(identity)]
        own_dir = workspace.execute_command("pwd").stdout.strip()
        workspace.working_dir = own_dir
        keep("cloud.workspace", lambda: work(workspace))
        keep("cloud.finished", lambda: finished(workspace, part["llm"]))
        rest("POST", f"/api/v1/sandboxes/{identity}/pause")
        steps.append(until_status(identity, "PAUSED"))
        workspace.resume()
        steps.append(status_of(identity))
        again = OpenHandsCloudWorkspace(sandbox_id=identity, keep_alive=True, **given)
        kept = again.execute_command(f"cat {own_dir}/sent.bin | wc -c").stdout.strip()
        rotated = again.api_key != first_key
        secrets = sorted(again.get_secrets())
        workspace.cleanup()
        steps.append(until_status(identity, "MISSING"))
        return {"steps": steps, "kept": kept, "rotated": rotated, "secrets": secrets}

    def started():
        """A conversation that the application API started, joined through the relay."""
        record = part["conversation"]
        workspace = RemoteWorkspace(
            host=record["agent_url"], api_key=record["session_api_key"], working_dir=part["working_dir"]
        )
        conversation = RemoteConversation.attach(workspace, record["id"], visualizer=None)
        conversation.send_message("and one thing more")
        conversation.run()
        status = conversation.state.execution_status.value
        conversation.close()
        return {"status": status}

    keep("cloud.life", life)
    keep("cloud.started", started)


if "direct" in GIVEN:
    direct(GIVEN["direct"])
if "cloud" in GIVEN:
    cloud(GIVEN["cloud"])
print(json.dumps(results))
