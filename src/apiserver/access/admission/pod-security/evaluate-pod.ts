import {
  appArmorProfile,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinuxOptions,
  seccompAnnotations,
  seccompProfile,
  sysctls,
  unlessOwnUsers,
  windowsHostProcess,
} from './baseline-checks.js';
import type { Check, CheckedPod, Violation } from './check.js';
import type { LevelVersion } from './namespace-policy.js';
import {
  allowPrivilegeEscalation,
  onlyNetBindService,
  restrictedSeccompProfile,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  unlessWindows,
} from './restricted-checks.js';

/** A rule of a level. It has changed over the versions. */
interface Rule {
  readonly id: string;
  /** From which minor on, in ascending order. Before the first one there was no such rule. */
  readonly since: readonly (readonly [minor: number, check: Check])[];
  /** The rule of the baseline whose place it takes. */
  readonly replaces?: string;
}

const SELINUX_TYPES = ['container_t', 'container_init_t', 'container_kvm_t'];
const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SYSCTLS_27 = [...SYSCTLS, 'net.ipv4.ip_local_reserved_ports'];
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const SYSCTLS_32 = [...SYSCTLS_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

/** In the order in which violations are listed. */
const BASELINE: readonly Rule[] = [
  { id: 'appArmorProfile', since: [[0, appArmorProfile]] },
  { id: 'capabilities', since: [[0, capabilities]] },
  { id: 'hostNamespaces', since: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', since: [[0, hostPathVolumes]] },
  { id: 'hostPorts', since: [[0, hostPorts]] },
  { id: 'hostProbes', since: [[34, hostProbes]] },
  { id: 'privileged', since: [[0, privileged]] },
  {
    id: 'procMount',
    since: [
      [0, procMount],
      [35, unlessOwnUsers(procMount)],
    ],
  },
  {
    id: 'seLinuxOptions',
    since: [
      [0, seLinuxOptions(SELINUX_TYPES)],
      [31, seLinuxOptions([...SELINUX_TYPES, 'container_engine_t'])],
    ],
  },
  {
    id: 'seccompProfile',
    since: [
      [0, seccompAnnotations],
      [19, seccompProfile],
    ],
  },
  {
    id: 'sysctls',
    since: [
      [0, sysctls(SYSCTLS)],
      [27, sysctls(SYSCTLS_27)],
      [29, sysctls(SYSCTLS_29)],
      [32, sysctls(SYSCTLS_32)],
    ],
  },
  { id: 'windowsHostProcess', since: [[0, windowsHostProcess]] },
];

/** Come after those of the baseline. */
const RESTRICTED: readonly Rule[] = [
  {
    id: 'allowPrivilegeEscalation',
    since: [
      [8, allowPrivilegeEscalation],
      [25, unlessWindows(allowPrivilegeEscalation)],
    ],
  },
  {
    id: 'restricted capabilities',
    replaces: 'capabilities',
    since: [
      [22, onlyNetBindService],
      [25, unlessWindows(onlyNetBindService)],
    ],
  },
  { id: 'restricted procMount', replaces: 'procMount', since: [[35, procMount]] },
  { id: 'restrictedVolumes', replaces: 'hostPathVolumes', since: [[0, restrictedVolumes]] },
  {
    id: 'runAsNonRoot',
    since: [
      [0, runAsNonRoot],
      [35, unlessOwnUsers(runAsNonRoot)],
    ],
  },
  {
    id: 'runAsUser',
    since: [
      [23, runAsUser],
      [35, unlessOwnUsers(runAsUser)],
    ],
  },
  {
    id: 'restricted seccompProfile',
    replaces: 'seccompProfile',
    since: [
      [19, restrictedSeccompProfile],
      [25, unlessWindows(restrictedSeccompProfile)],
    ],
  },
];

/** No rule has changed after this minor. */
const NEWEST = Math.max(
  ...[...BASELINE, ...RESTRICTED].flatMap(({ since }) => since.map(([minor]) => minor)),
);

/** How a pod breaks a level, in the order of the rules. Source: k8s.io/pod-security-admission of 1.36. */
export function violationsOf(asked: LevelVersion, pod: CheckedPod): readonly Violation[] {
  return checksOf(asked).flatMap((check) => check(pod) ?? []);
}

/** `privileged (container "c" must not set …), hostPort (…)`; empty if nothing is violated. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ detail, reason }) => `${reason} (${detail})`).join(', ');
}

const known = new Map<string, readonly Check[]>();

function checksOf({ level, minor }: LevelVersion): readonly Check[] {
  if (level === 'privileged') return [];
  const key = `${level}:${Math.min(minor, NEWEST)}`;
  const found = known.get(key) ?? compileChecks(level, minor);
  known.set(key, found);
  return found;
}

function compileChecks(level: 'baseline' | 'restricted', minor: number): readonly Check[] {
  if (level === 'baseline') return BASELINE.flatMap((rule) => checkAsOf(rule, minor) ?? []);
  const own = RESTRICTED.filter((rule) => checkAsOf(rule, minor));
  const replaced = new Set(own.map(({ replaces }) => replaces));
  const kept = BASELINE.filter(({ id }) => !replaced.has(id));
  return [...kept, ...own].flatMap((rule) => checkAsOf(rule, minor) ?? []);
}

function checkAsOf({ since }: Rule, minor: number): Check | undefined {
  return since.findLast(([first]) => first <= minor)?.[1];
}
