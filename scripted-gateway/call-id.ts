// Tool call ids that say where they come from, so that a history alone shows how far a conversation is.
// It must not know what a turn contains.

const idPattern = /^call_([A-Za-z0-9_-]+)_(\d{1,6})_(\d{1,6})$/;

/** Where a call was made: both indexes start at 0. */
interface CallOrigin {
  readonly scriptName: string;
  readonly turnIndex: number;
  readonly callIndex: number;
}

/** `call_<script>_<turn>_<call>`. */
export function formatCallId(origin: CallOrigin): string {
  return `call_${origin.scriptName}_${origin.turnIndex}_${origin.callIndex}`;
}

/** The origin in an id, or null when this server did not make it. */
export function parseCallId(id: string): CallOrigin | null {
  const match = idPattern.exec(id);
  if (match === null) return null;
  return { scriptName: match[1] ?? '', turnIndex: Number(match[2]), callIndex: Number(match[3]) };
}
