import type { DataFolder } from '@rollkeeper/machinery/files';
import { EVICTION_REQUEST_GATE, readFeatureGates } from '@rollkeeper/machinery/options/feature-gates';
import { consoleUrlFlag } from './console-port.js';
import { adminTokenFile, signingFlags } from './credentials.js';
import type { CompiledUpOptions } from './up.options.js';

/** The hosts to which checks may send requests on a laptop. */
const LOOPBACK_HOSTS = 'localhost,127.0.0.1,[::1]';
/** For the console's waterfalls. */
const RECENT_TRACES = '1000';

/** A replica has every option that asks for rights: this cluster is its user's own. */
const EVERYTHING_ON = [
  '--standalone',
  '--restart-on-config',
  '--pin-config',
  '--respect-disruption-budgets',
  '--rollout-checks',
  '--check-secrets',
  ...['--check-hosts', LOOPBACK_HOSTS],
  '--blue-green',
  '--traffic',
  '--experiment-services',
  '--zones',
  '--drain-sessions',
  '--stateful-sets',
  '--daemon-sets',
  '--watch-admission',
  '--lasting-history',
];

/** These need one replica that sees all namespaces. */
const UNLESS_IN_SLOTS = ['--max-rollouts', '0', '--notification-hosts', LOOPBACK_HOSTS];

/** The command line of the API server. */
export function apiServerArguments(up: CompiledUpOptions, port: number): readonly string[] {
  return [
    'apiserver',
    ...['--port', String(port), '--data-dir', up['data-dir']],
    ...['--invalid-policies', up['invalid-policies']],
    ...(up['feature-gates'] === '' ? [] : ['--feature-gates', up['feature-gates']]),
  ];
}

/** The command line of the simulated nodes, with the scheduler unless it is a process of its own. */
export function nodeArguments(up: CompiledUpOptions, kubeconfig: string): readonly string[] {
  const profiles = up['node-profiles'];
  return [
    ...['node', '--nodes', String(up.nodes), '--kubeconfig', kubeconfig],
    ...(profiles === undefined ? [] : ['--node-profiles', profiles]),
    ...(up.scheduler === 'node' ? schedulerFiles(up, 'scheduler-') : ['--scheduler=false']),
  ];
}

/** The command line of a scheduler that is a process of its own. */
export function schedulerArguments(up: CompiledUpOptions, kubeconfig: string): readonly string[] {
  return ['scheduler', '--kubeconfig', kubeconfig, '--leader-elect=false', ...schedulerFiles(up, '')];
}

/** @param prefix of the flags, as the command names them */
function schedulerFiles(up: CompiledUpOptions, prefix: 'scheduler-' | ''): readonly string[] {
  const files = { config: up['scheduler-config'], plugins: up['scheduler-plugins'] };
  return Object.entries(files).flatMap(([name, file]) =>
    file === undefined ? [] : [`--${prefix}${name}`, file],
  );
}

interface ReplicaPlace {
  readonly identity: string;
  readonly kubeconfig: string;
  readonly folder: DataFolder;
  /** The port of the console, for links to it. */
  readonly consolePort: string;
  readonly adminPort: string;
}

/** The command line of a replica. The user's own arguments come last, and so win. */
export function replicaArguments(up: CompiledUpOptions, place: ReplicaPlace): string[] {
  const { adminPort, consolePort, folder, identity, kubeconfig } = place;
  const flags = {
    '--kubeconfig': kubeconfig,
    '--identity': identity,
    '--admin-token-file': adminTokenFile(up['data-dir']),
    ...localReadsFlag(folder),
    '--recent-traces': RECENT_TRACES,
    ...signingFlags(up['data-dir']),
    ...consoleUrlFlag(consolePort),
    '--admin-port': adminPort,
  };
  return [
    ...['controller', ...EVERYTHING_ON, ...previewFlags(up['feature-gates'])],
    ...(asksForSlots(up['controller-args']) ? [] : UNLESS_IN_SLOTS),
    ...Object.entries(flags).flat(),
    ...up['controller-args'],
  ];
}

/** Whether the user's own arguments spread the namespaces over slots. */
function asksForSlots(own: readonly string[]): boolean {
  const at = own.findLastIndex((each) => each === '--slots' || each.startsWith('--slots='));
  const [, value = own[at + 1]] = own[at]?.split('=') ?? [];
  return at >= 0 && value !== '0';
}

/** The controllers of the previews that the API server serves. */
function previewFlags(gates: string): readonly string[] {
  const read = readFeatureGates(gates);
  return 'enabled' in read && read.enabled.has(EVICTION_REQUEST_GATE) ? ['--eviction-requests'] : [];
}

/** Other users of the machine must not see the cluster's objects. If the data folder is shared, a token is required. */
function localReadsFlag({ isShared }: DataFolder): Readonly<Record<string, string>> {
  return { '--admin-local-reads': isShared ? 'token' : 'own-user' };
}
