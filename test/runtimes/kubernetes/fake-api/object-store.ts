/**
 * The objects of the stand-in API server, with versions, finalizers and a history that is forgotten.
 * Owns what a change does to an object; who may change what, and what follows from it, is elsewhere.
 */
import { randomUUID } from 'node:crypto';
import { KINDS, ApiRefusal } from './api-object.ts';
import type { ApiObject, Resource } from './api-object.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: Resource;
  readonly object: ApiObject;
  readonly version: number;
}

export type Body = Readonly<Record<string, unknown>> & { readonly metadata?: Partial<ApiObject['metadata']> };

export interface ObjectStore {
  readonly version: number;
  /** Versions below this one are forgotten. */
  readonly oldest: number;
  readonly events: readonly StoreEvent[];
  all(resource: Resource): readonly ApiObject[];
  find(resource: Resource, name: string): ApiObject | null;
  /** @throws ApiRefusal NotFound */
  get(resource: Resource, name: string): ApiObject;
  /** @throws ApiRefusal AlreadyExists */
  create(resource: Resource, namespace: string, body: Body): ApiObject;
  /** @throws ApiRefusal NotFound, Conflict: `version` is not the object's, `uid` is another object's */
  change(resource: Resource, name: string, edit: (object: ApiObject) => void, expected?: Expected): ApiObject;
  /** Removes at once, or marks it while a finalizer holds it. */
  remove(resource: Resource, name: string, expected?: Expected): ApiObject;
  /** Whatever holds it. */
  drop(resource: Resource, name: string): void;
  /** Forgets what happened until now: older watches and lists are expired. */
  compact(): void;
  listen(listener: (event: StoreEvent) => void): () => void;
}

export interface Expected {
  readonly version?: string | undefined;
  readonly uid?: string | undefined;
}

export function createObjectStore(): ObjectStore {
  return new HeldObjects();
}

class HeldObjects implements ObjectStore {
  version = 1_000;
  oldest = 0;
  readonly events: StoreEvent[] = [];
  readonly #tables = new Map<Resource, Map<string, ApiObject>>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();

  all(resource: Resource): readonly ApiObject[] {
    return [...this.#table(resource).values()].map((object) => structuredClone(object));
  }

  find(resource: Resource, name: string): ApiObject | null {
    return structuredClone(this.#table(resource).get(name) ?? null);
  }

  get(resource: Resource, name: string): ApiObject {
    return structuredClone(this.#held(resource, name));
  }

  create(resource: Resource, namespace: string, body: Body): ApiObject {
    const name = String(body.metadata?.name ?? '');
    const table = this.#table(resource);
    if (table.has(name)) throw new ApiRefusal(409, 'AlreadyExists', `${resource} "${name}" already exists`);
    const own = { uid: randomUUID(), resourceVersion: '', creationTimestamp: new Date().toISOString() };
    const metadata = { ...structuredClone(body.metadata), name, namespace, ...own };
    const object: ApiObject = { ...structuredClone(body), ...KINDS[resource], metadata };
    table.set(name, object);
    return this.#tell('ADDED', resource, object);
  }

  change(
    resource: Resource,
    name: string,
    edit: (object: ApiObject) => void,
    expected: Expected = {},
  ): ApiObject {
    const object = this.#held(resource, name);
    check(resource, object, expected);
    const { uid } = object.metadata;
    edit(object);
    object.metadata.uid = uid;
    return this.#settle(resource, object);
  }

  remove(resource: Resource, name: string, expected: Expected = {}): ApiObject {
    const object = this.#held(resource, name);
    check(resource, object, expected);
    object.metadata.deletionTimestamp ??= new Date().toISOString();
    return this.#settle(resource, object);
  }

  drop(resource: Resource, name: string): void {
    const object = this.#table(resource).get(name);
    if (object === undefined) return;
    this.#table(resource).delete(name);
    this.#tell('DELETED', resource, object);
  }

  compact(): void {
    this.oldest = this.version;
    this.events.length = 0;
  }

  listen(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #table(resource: Resource): Map<string, ApiObject> {
    const table = this.#tables.get(resource) ?? new Map<string, ApiObject>();
    this.#tables.set(resource, table);
    return table;
  }

  #held(resource: Resource, name: string): ApiObject {
    const object = this.#table(resource).get(name);
    if (object !== undefined) return object;
    throw new ApiRefusal(404, 'NotFound', `${resource} "${name}" not found`);
  }

  #tell(type: StoreEvent['type'], resource: Resource, object: ApiObject): ApiObject {
    this.version += 1;
    object.metadata.resourceVersion = String(this.version);
    const event = { type, resource, object: structuredClone(object), version: this.version };
    this.events.push(event);
    for (const listener of [...this.#listeners]) listener(event);
    return structuredClone(object);
  }

  /** A pod goes when its node says so, everything else when nothing holds it. */
  #settle(resource: Resource, object: ApiObject): ApiObject {
    const { deletionTimestamp, finalizers = [], name } = object.metadata;
    if (deletionTimestamp === undefined || finalizers.length > 0 || resource === 'pods') {
      return this.#tell('MODIFIED', resource, object);
    }
    this.#table(resource).delete(name);
    return this.#tell('DELETED', resource, object);
  }
}

function check(resource: Resource, { metadata }: ApiObject, { version, uid }: Expected): void {
  if (version !== undefined && version !== metadata.resourceVersion) {
    const message = `Operation cannot be fulfilled on ${resource} "${metadata.name}": the object has been modified`;
    throw new ApiRefusal(409, 'Conflict', message);
  }
  if (uid !== undefined && uid !== metadata.uid) {
    const message = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
    throw new ApiRefusal(409, 'Conflict', message);
  }
}
