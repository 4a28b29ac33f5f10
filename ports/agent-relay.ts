/**
 * A raw connection to an Agent Server, for clients that speak its own protocol through us.
 * Owns the interface; who may use it is the edge's to decide.
 */
import type { Duplex } from 'node:stream';
import type { AgentAddress } from './agent-server.ts';

export interface AgentRelay {
  /** @throws Error the Agent Server cannot be reached, or its place is no socket; ParleyError of a worker that leads there */
  connect(address: AgentAddress): Promise<Duplex>;
}
