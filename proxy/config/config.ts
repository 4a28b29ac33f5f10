/**
 * The proxy's configuration after it was read and checked.
 * Owns the shapes; must not read, resolve or check anything.
 */
import type { TokenPrice } from '../../core/money/price.ts';

/** `openai`: any OpenAI-compatible gateway; `vendor`: a gateway of the same product as this proxy. */
export type GatewayKind = 'openai' | 'vendor';

/** One entry of `model_list`, or one added through `POST /model/new`. */
export interface ModelEntry {
  /** Stable over reloads while name, model and address stay; unique in a configuration. */
  readonly id: string;
  /** The name callers use; "*" is the wildcard (D24). Entries of one name share its calls. */
  readonly modelName: string;
  readonly kind: GatewayKind;
  /** The name the gateway expects, prefix removed; "*" in a wildcard entry is replaced by the caller's name. */
  readonly upstreamModel: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path on that origin that `/chat/completions` and the like are added to; it ends in `/v1`. */
  readonly basePath: string;
  /** The gateway's key: never logged, never part of a reply (D19). */
  readonly apiKey: string;
  /** As the entry writes it; null: the gateway's own cost counts, else the public list price (D26, D30). */
  readonly price: TokenPrice | null;
  /** The most tokens that one call may send and receive; null where neither entry nor list says. */
  readonly inputTokensMax: number | null;
  readonly outputTokensMax: number | null;
  /** Longest wait for the reply to begin, and between two pieces of it. */
  readonly timeoutMs: number;
  /** Its share among the entries of its name, above 0. */
  readonly weight: number;
  /** Static headers of the entry, names in lower case, sent on every call of it. */
  readonly extraHeaders: ReadonlyMap<string, string>;
}

/** What may follow a call that failed; nothing unless it is configured (D22). */
export interface RetryRule {
  /** Further tries of a call, each at the next entry of its name. */
  readonly retriesMax: number;
  /** Names to turn to, in order, when all tries of a name have failed. */
  readonly fallbacks: ReadonlyMap<string, readonly string[]>;
}

/** The proxy's file, checked. */
export interface ProxyConfig {
  readonly models: readonly ModelEntry[];
  /** `general_settings.forward_client_headers_to_llm_api`, default false (D23). */
  readonly forwardClientHeaders: boolean;
  /** `general_settings.headers_kept_back`: names, or prefixes ending in "*", that are not forwarded (D23). */
  readonly headersKeptBack: readonly string[];
  /** `router_settings`. */
  readonly retry: RetryRule;
  /** `general_settings.custom_llm_extra_headers`: on every call, also of entries that are added later. */
  readonly customHeaders: ReadonlyMap<string, string>;
  /** `general_settings.spend_retention_days`: older rows are kept as daily totals; null keeps every row. */
  readonly spendRetentionDays: number | null;
  /** A row is in the store before its call is sent, so that it outlives its host; costs each call a commit. */
  readonly commitsBeforeDispatch: boolean;
  /** From the environment variable PROXY_MASTER_KEY; null: there is no master key. */
  readonly masterKey: string | null;
}

/** One finding of the load checks (D25). A configuration with an `error` must not be served. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning';
  /** Where, e.g. `proxy_config.model_list[0].proxyvendor_params.api_base`. */
  readonly path: string;
  /** "Cannot VERB thing: state"; names entry and variable, never a value of a key. */
  readonly message: string;
}

/** Not forwarded unless `headers_kept_back` says otherwise (D23): they describe the hop to us, not the call. */
export const HEADERS_KEPT_BACK_DEFAULT: readonly string[] = [
  'x-forwarded-*',
  'x-real-ip',
  'x-http-method-override',
];
