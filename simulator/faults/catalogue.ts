/**
 * Every fault the simulator can inject: name, class, and what happens.
 * Owns the names; docs/faults.md lists them from here, and a campaign counts how often each struck.
 */

/** The port at which a fault strikes. */
export const FAULT_CLASSES = ['runtime', 'agent', 'store', 'worker', 'transport', 'client'] as const;
export type FaultClass = (typeof FAULT_CLASSES)[number];

interface FaultEntry {
  readonly class: FaultClass;
  readonly says: string;
}

const fault = (faultClass: FaultClass, says: string): FaultEntry => ({ class: faultClass, says });

/** Every fault by its name. */
export const FAULTS = {
  runtime_error_before_effect: fault('runtime', 'a call fails and did nothing'),
  runtime_effect_then_error: fault('runtime', 'a call did its work and answers with an error'),
  runtime_effect_then_timeout: fault('runtime', 'a call did its work and nobody hears of it'),
  runtime_slow: fault('runtime', 'a call takes from minutes to hours'),
  runtime_duplicate_effect: fault('runtime', 'a call is carried out a second time, later'),
  runtime_ready_too_early: fault('runtime', 'up is reported before the Agent Server answers'),
  runtime_wrong_state: fault('runtime', 'a stop or removal answers 409: it is in another state already'),
  runtime_partial_start: fault('runtime', 'an object was made and its start failed; the object stays behind'),
  runtime_killed: fault('runtime', 'the runtime of a sandbox dies: out of memory, a signal'),
  runtime_removed: fault('runtime', 'somebody removes a sandbox behind our back'),
  runtime_frozen_outside: fault('runtime', 'somebody freezes a sandbox, and thaws it later'),
  runtime_stopped_outside: fault('runtime', 'somebody stops a sandbox behind our back'),
  runtime_started_outside: fault('runtime', 'somebody starts a released sandbox behind our back'),
  runtime_unreachable: fault('runtime', 'the daemon does not answer for a while, and nothing is lost'),
  runtime_daemon_restart: fault('runtime', 'the daemon restarts and every sandbox dies'),
  runtime_look_stale: fault('runtime', 'a look shows what was true a while ago'),
  runtime_list_omits: fault('runtime', 'a list leaves out a sandbox that is there'),
  runtime_list_repeats: fault('runtime', 'a list shows a sandbox twice'),
  runtime_event_lost: fault('runtime', 'the event of a death never arrives; only the next look shows it'),
  runtime_event_repeated: fault('runtime', 'the event of a death arrives twice'),
  runtime_event_late: fault('runtime', 'the event of a death arrives after later ones'),
  runtime_events_cut: fault('runtime', 'the stream of events is cut and comes back with a gap'),
  runtime_disk_full: fault('runtime', 'a boot or an archive finds the disk full'),
  archive_truncated: fault('runtime', 'an archive is cut off in the middle; its size gives it away'),
  archive_corrupt: fault('runtime', 'an archive is damaged; its checksum gives it away'),
  runtime_name_conflict: fault('runtime', 'a create answers 409: the name is taken by an object of ours'),
  runtime_quota_refused: fault('runtime', 'the provider refuses for lack of quota, for a while'),
  runtime_port_taken: fault('runtime', 'a start finds its port taken and fails once'),
  runtime_pid_reused: fault(
    'runtime',
    'a dead process is taken for alive for its number, until its start time is read',
  ),
  runtime_node_drained: fault('runtime', 'a node is drained: some sandboxes stop within minutes'),

  agent_never_ready: fault('agent', 'the Agent Server of an incarnation never answers'),
  agent_crash_loop: fault('agent', 'the Agent Server dies again and again after it was ready'),
  agent_hangs: fault('agent', 'a call of the Agent Server is never answered'),
  agent_server_error: fault('agent', 'a call answers 5xx and did nothing'),
  agent_half_response: fault('agent', 'a call did its work and its answer is cut off'),
  agent_frozen: fault(
    'agent',
    'an agent stands still in the middle of its work until its runtime is started again',
  ),
  agent_stale_running: fault('agent', 'an agent that rests is reported as RUNNING for a while'),
  agent_wrong_idle_time: fault('agent', 'the Agent Server reports too short an idle time'),
  agent_clock_frozen: fault('agent', 'the clock of the Agent Server stands still for a while'),
  agent_old_session_key: fault('agent', 'a report of an earlier incarnation arrives'),
  callback_lost: fault('agent', 'a callback never arrives; only the next poll shows it'),
  callback_repeated: fault('agent', 'a callback arrives twice'),
  callback_out_of_order: fault('agent', 'a callback arrives after a later one'),
  gateway_rate_limited: fault('agent', 'the gateway answers 429 to every agent for a while'),
  gateway_unavailable: fault('agent', 'the gateway answers 5xx to every agent for a while'),

  store_conflict: fault('store', 'a commit loses against another and is made again'),
  store_timeout_after_commit: fault(
    'store',
    'a commit happened and its caller saw a timeout, so the event comes again',
  ),
  store_slow: fault('store', 'commits wait'),
  store_restart: fault('store', 'the store is away for seconds to minutes'),
  store_old_replica: fault('store', 'a read shows an old row'),
  store_full: fault('store', 'commits are refused for a while; callers see an error'),

  worker_crash_before_commit: fault(
    'worker',
    'the worker dies with a step in memory: nothing of it happened',
  ),
  worker_crash_after_commit: fault(
    'worker',
    'the worker dies after a commit, before its commands are handed out',
  ),
  worker_crash_in_activity: fault(
    'worker',
    'the worker dies with commands being carried out; they are carried out again',
  ),
  worker_zombie: fault('worker', 'a worker that lost its lease wakes and finishes a command late'),
  worker_two_leaders: fault('worker', 'two workers carry out the same commands'),
  worker_rolling_upgrade: fault('worker', 'another worker takes over from what was stored'),
  worker_clock_skew: fault('worker', 'the clock of the worker is off by up to minutes'),
  worker_clock_jump_forward: fault(
    'worker',
    'the clock of the worker jumps ahead by minutes, and back later',
  ),
  worker_clock_jump_back: fault('worker', 'the clock of the worker is set back by minutes'),

  tell_delayed: fault('transport', 'messages between machines arrive after random delays, out of order'),
  tell_delayed_in_order: fault(
    'transport',
    'messages between machines arrive late, in order for each sender',
  ),
  tell_repeated: fault('transport', 'a message between machines arrives twice'),
  answer_late: fault('transport', 'the answer of a command arrives late'),
  answer_repeated: fault('transport', 'the answer of a command arrives twice'),

  client_retry_same_key: fault('client', 'a client sends a request again with the same id'),
  client_retry_new_key: fault('client', 'a client sends a request again with a new id'),
  client_cancel: fault('client', 'a client interrupts or cancels at an odd moment'),
  client_burst: fault('client', 'a client sends many messages at once'),
  client_in_transition: fault('client', 'a client acts in the middle of a transition'),
  client_delete_twice: fault('client', 'a client deletes twice'),
  client_on_shared: fault('client', 'a client pauses, resumes or deletes a sandbox that others share'),
} as const satisfies Readonly<Record<string, FaultEntry>>;

export type FaultName = keyof typeof FAULTS;

/** In the order of the catalogue. */
export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[];

/** Probability of each kind at each of its opportunities, from 0 to 1; an absent kind never strikes. */
export type FaultMix = Readonly<Partial<Record<FaultName, number>>>;
