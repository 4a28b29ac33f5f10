/**
 * A runtime whose sandboxes are entries of a map.
 * Owns the record of starts, stops and destroys; a test sets what it sees.
 */
import type { SandboxId } from '../../core/ids.ts';
import type { ParleyError } from '../../core/parley-error.ts';
import type {
  RuntimePresence,
  SandboxAddress,
  SandboxRuntime,
  StartSandboxRequest,
} from '../../ports/sandbox-runtime.ts';

export class FakeRuntime implements SandboxRuntime {
  readonly capabilities = {
    kind: 'fake',
    isolation: 'none',
    tools: 'beside',
    pause: ['files'],
    resume: { files: 'boot', memory: null },
    egress: 'none',
    limits: { memory: 'none', processes: 'none', cpu: 'none', fileSize: 'none', workspace: 'none' },
    export: 'always',
    survivesRestart: false,
  } as const;
  readonly presences = new Map<SandboxId, RuntimePresence>();
  readonly started: StartSandboxRequest[] = [];
  /** What was done, in order: `stop <generation>`, `destroy`. */
  readonly log: string[] = [];
  /** Thrown by the calls that may throw. */
  error: ParleyError | null = null;
  workspace: readonly string[] = ['a', 'b'];
  private readonly workspaceDir: string;

  constructor(workspaceDir: string) {
    this.workspaceDir = workspaceDir;
  }

  address(sandboxId: SandboxId, generation: number): SandboxAddress {
    const routes = {
      proxyUrl: 'http://proxy.inside',
      webhookUrl: 'http://webhook.inside',
      gitUrl: 'http://git.inside',
    };
    return {
      sandboxId,
      generation,
      agent: { socketPath: '/dev/null' },
      routes,
      workspaceDir: this.workspaceDir,
    };
  }

  up(sandboxId: SandboxId, generation = 1): void {
    this.presences.set(sandboxId, { kind: 'up', generation, address: this.address(sandboxId, generation) });
  }

  start(request: StartSandboxRequest): Promise<SandboxAddress> {
    this.started.push(request);
    if (this.error !== null) return Promise.reject(this.error);
    this.up(request.sandboxId, request.generation);
    return Promise.resolve(this.address(request.sandboxId, request.generation));
  }

  stop({
    sandboxId,
    generation,
  }: {
    readonly sandboxId: SandboxId;
    readonly generation: number;
  }): Promise<void> {
    this.log.push(`stop ${generation}`);
    if (this.error !== null) return Promise.reject(this.error);
    this.presences.set(sandboxId, { kind: 'stopped', generation });
    return Promise.resolve();
  }

  destroy(sandboxId: SandboxId): Promise<void> {
    this.log.push('destroy');
    if (this.error !== null) return Promise.reject(this.error);
    this.presences.delete(sandboxId);
    return Promise.resolve();
  }

  inspect(sandboxId: SandboxId): Promise<RuntimePresence> {
    return Promise.resolve(this.presences.get(sandboxId) ?? { kind: 'gone' });
  }

  list(): Promise<never[]> {
    return Promise.resolve([]);
  }

  async *exportWorkspace(): AsyncIterable<Uint8Array> {
    if (this.error !== null) throw this.error;
    for (const chunk of this.workspace) yield await Promise.resolve(Buffer.from(chunk));
  }
}
