/**
 * What the stand-in API server holds and answers.
 * Owns the shapes, as loose as the wire is; the client's own types stay out, so that both sides are written twice.
 */

export interface ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
}

export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: PodSpec & Record<string, unknown>;
  status?: PodStatus & Record<string, unknown>;
  data?: Record<string, string>;
}

export interface PodSpec {
  nodeName?: string;
  hostname?: string;
  terminationGracePeriodSeconds?: number;
  containers?: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  securityContext?: Record<string, unknown>;
}

export interface Container {
  name: string;
  image: string;
  command: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  workingDir?: string;
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  securityContext?: Record<string, unknown>;
}

export interface Volume {
  name: string;
  persistentVolumeClaim?: { claimName: string };
  emptyDir?: Record<string, unknown>;
  secret?: { secretName: string; items?: { key: string; path: string }[] };
}

export interface PodStatus {
  phase?: string;
  podIP?: string;
  reason?: string;
  message?: string;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

export interface ContainerStatus {
  name: string;
  image: string;
  ready: boolean;
  restartCount: number;
  imageID: string;
  state: {
    waiting?: { reason: string; message?: string };
    running?: { startedAt: string };
    terminated?: { exitCode: number; reason: string };
  };
}

export type Resource = 'pods' | 'persistentvolumeclaims' | 'secrets' | 'networkpolicies' | 'namespaces';

export const KINDS: Readonly<Record<Resource, { readonly apiVersion: string; readonly kind: string }>> = {
  pods: { apiVersion: 'v1', kind: 'Pod' },
  persistentvolumeclaims: { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  secrets: { apiVersion: 'v1', kind: 'Secret' },
  networkpolicies: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  namespaces: { apiVersion: 'v1', kind: 'Namespace' },
};

/** A refusal as the server words it. */
export class ApiRefusal extends Error {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterS: number | null;

  constructor(status: number, reason: string, message: string, retryAfterS: number | null = null) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterS = retryAfterS;
  }
}

export function statusBody({ status, reason, message }: ApiRefusal): Readonly<Record<string, unknown>> {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code: status };
}
