/**
 * The command line of a development server.
 * Owns the settings that differ from the server's defaults, each with its reason.
 */
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';
import { attributeTypeName } from '../search-attributes.ts';

export type DevServerLogLevel = 'debug' | 'info' | 'warn' | 'error' | 'never';

/** Values of the server's dynamic configuration, by key, as JSON values. */
export type DynamicConfig = Readonly<Record<string, string | number | boolean>>;

export interface ServerArguments {
  readonly port: number;
  /** Null for no user interface. */
  readonly uiPort: number | null;
  readonly namespace: string;
  /** Null keeps everything in memory. */
  readonly databaseFile: string | null;
  readonly logLevel: DevServerLogLevel;
  readonly dynamicConfig: DynamicConfig;
}

const SMALL_MACHINE: DynamicConfig = {
  // Task queues have four partitions by default, for throughput of many hosts. A task that lands on another partition
  // than its poller is forwarded; with one host and a few pollers that is only delay and idle work.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // A timer may fire up to a second late, which guards against clocks of several hosts that differ. Here is one clock.
  'history.timerProcessorMaxTimeShift': '10ms',
};

/** A database of one process: readers do not wait for the writer, and a crash of the machine loses the last moments. */
const FILE_PRAGMAS = ['journal_mode=wal', 'synchronous=normal'];

export function serverArguments(server: ServerArguments): readonly string[] {
  const dynamicConfig = { ...SMALL_MACHINE, ...server.dynamicConfig };
  return [
    'server',
    'start-dev',
    ...['--ip', '127.0.0.1', '--port', String(server.port)],
    ...(server.uiPort === null ? ['--headless'] : ['--ui-port', String(server.uiPort)]),
    ...['--namespace', server.namespace, '--log-level', server.logLevel],
    ...SEARCH_ATTRIBUTES.flatMap((attribute) => [
      '--search-attribute',
      `${attribute.name}=${attributeTypeName(attribute)}`,
    ]),
    ...Object.entries(dynamicConfig).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${JSON.stringify(value)}`,
    ]),
    ...(server.databaseFile === null ? [] : ['--db-filename', server.databaseFile]),
    ...(server.databaseFile === null ? [] : FILE_PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma])),
  ];
}
