/**
 * The block `runtime` of `parley.yaml`: where sandboxes come from, their bounds, and what they reach.
 * Owns forms and bounds; defaults are in settings.ts.
 */
import { z } from 'zod';
import { block, count, fitting, oneOf, text, TEXT_MAX } from './schema-forms.ts';

/** A memory, a disk or a file beyond this is a wrong unit. */
const MEGABYTES_MAX = 16 * 1024 * 1024;
const PROCESSES_MAX = 4_000_000;
const CPU_PERCENT_MAX = 100_000;
const EGRESS_RULES_MAX = 256;
const SHARED_FOLDERS_MAX = 20;
/** A host name, `*.` before it for what is below, `:PORT` behind it; or the word for the configured code hosts. */
const EGRESS_RULE = /^(private )?((\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?(:\d{1,5})?)$/;

const sandboxLimits = block('Bounds of every sandbox. A bound of 0 sets none.', {
  memory_mb: count(0, MEGABYTES_MAX, 'Memory, files in memory included, in MiB.'),
  processes: count(0, PROCESSES_MAX, 'Processes and threads at once.'),
  cpu_percent: count(0, CPU_PERCENT_MAX, 'Processor time in percent of one processor.'),
  file_mb: count(0, MEGABYTES_MAX, 'The largest single file, in MiB.'),
  disk_mb: count(0, MEGABYTES_MAX, 'Everything kept on disk together, in MiB.'),
});

/** A tag may become another image at any time; a digest may not. */
const DOCKER_IMAGE = /^(host|([^@\s]+@)?sha256:[0-9a-f]{64})$/;

const docker = block('The daemon of this host, and the image. It counts where runtime.kind is docker.', {
  socket: text('Unix socket of the daemon.'),
  image: fitting(DOCKER_IMAGE, 'host, made of the programs of this host, or an image by digest.'),
});

/** As in names of the cluster. */
const CLUSTER_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;
const INSTALLATION = /^[a-z]([a-z0-9-]{0,14}[a-z0-9])?$/;
const CLUSTER_IMAGE = /^[^@\s]+@sha256:[0-9a-f]{64}$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+)$/;

const kubernetes = block(
  'The cluster, and what its pods are made with. It counts where runtime.kind is kubernetes.',
  {
    namespace: fitting(CLUSTER_NAME, 'Namespace of the sandboxes; nothing else should be in it.'),
    installation: fitting(INSTALLATION, 'Tells the objects of this deployment from those of another.'),
    kubeconfig: text('File with the cluster and its credentials; relative to this file.'),
    context: text('Context of that file.'),
    image: fitting(CLUSTER_IMAGE, 'Image of the sandboxes by digest, with the programs of Parley.'),
    pull_secret: fitting(CLUSTER_NAME, 'Secret of the namespace that opens the registry.'),
    storage_class: fitting(CLUSTER_NAME, 'Class of the volumes of the sandboxes.'),
    runtime_class: fitting(CLUSTER_NAME, 'Class of the container runtime, for a kernel of its own.'),
    pod_security: oneOf(
      ['baseline', 'restricted'],
      'Level of admission that the pods keep to. At restricted, tools are beside their Agent Server.',
    ),
    service: fitting(HOST, 'Name or address under which pods reach this process.'),
    listen: fitting(HOST, 'Address on which ways for pods are opened, on ports 4100 to 4103.'),
    memory_request_mb: count(0, MEGABYTES_MAX, 'Memory kept free for a sandbox, in MiB; 0 is its limit.'),
    cpu_request_percent: count(0, CPU_PERCENT_MAX, 'Processor kept free for a sandbox, in percent of one.'),
  },
);

const egress = block('What sandboxes reach besides the proxy and Git. Without it they reach nothing else.', {
  ca: text('PEM file of the authorities of own hosts, such as an internal registry; relative to this file.'),
  allow: z
    .array(z.string().max(TEXT_MAX).regex(EGRESS_RULE))
    .max(EGRESS_RULES_MAX)
    .meta({
      description:
        'Hosts by name, *.NAME for names below, :PORT for other ports, "private NAME" for one of the own network. The word code_hosts stands for those.',
    })
    .optional(),
});

export const runtime = block(
  'Where sandboxes come from, and what bounds them. The built-in default needs nothing installed.',
  {
    kind: oneOf(['process', 'docker', 'kubernetes'], 'Where sandboxes come from.'),
    isolation: oneOf(['auto', 'namespaces', 'none'], 'What separates a sandbox from the host.'),
    docker,
    kubernetes,
    limits: sandboxLimits,
    shared_folders: z
      .array(z.string().min(1).max(TEXT_MAX))
      .max(SHARED_FOLDERS_MAX)
      .meta({
        description:
          'Folders of this host, relative to this file. Sandboxes of the process runtime see them at the same path and cannot write there.',
      })
      .optional(),
    egress,
  },
);
