import { describe, expect, it } from 'vitest';
import type { SecurityContext } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { CheckedPod } from './check.js';
import { describeViolations, violationsOf } from './evaluate-pod.js';
import type { Level } from './namespace-policy.js';

const LATEST = Infinity;

function checkedPod(spec: CheckedPod['spec'], annotations: CheckedPod['annotations'] = {}): CheckedPod {
  return { annotations, spec: { containers: [{ name: 'c' }], ...spec } };
}

function verdict(level: Level, minor: number, pod: CheckedPod): string {
  return describeViolations(violationsOf({ level, minor }, pod));
}

const HARMLESS: Decoded<SecurityContext> = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

interface Case {
  readonly name: string;
  readonly spec: CheckedPod['spec'];
  readonly annotations?: CheckedPod['annotations'];
  readonly minor?: number;
  readonly expected: string;
}

const BASELINE: readonly Case[] = [
  { name: 'a plain pod', spec: {}, expected: '' },
  {
    name: 'AppArmor of pod, containers and annotations',
    spec: {
      securityContext: { appArmorProfile: { type: 'Unconfined' } },
      containers: [{ name: 'c', securityContext: { appArmorProfile: { type: 'Unconfined' } } }],
    },
    annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' },
    expected:
      'forbidden AppArmor profiles (pod and container "c" and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  },
  {
    name: 'capabilities of two containers',
    spec: {
      initContainers: [{ name: 'i', securityContext: { capabilities: { add: ['SYS_ADMIN', 'CHOWN'] } } }],
      containers: [{ name: 'c', securityContext: { capabilities: { add: ['NET_ADMIN'] } } }],
    },
    expected:
      'non-default capabilities (containers "i", "c" must not include "NET_ADMIN", "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    name: 'namespaces, paths and ports of the node',
    spec: {
      hostNetwork: true,
      hostIPC: true,
      volumes: [{ name: 'v', hostPath: { path: '/' } }],
      containers: [
        { name: 'a', ports: [{ hostPort: 80 }, { hostPort: 443 }] },
        { name: 'b', ports: [{ containerPort: 80 }] },
      ],
    },
    expected:
      'host namespaces (hostNetwork=true, hostIPC=true), hostPath volumes (volume "v"), hostPort (container "a" uses hostPorts 443, 80)',
  },
  {
    name: 'hosts in probes, which were allowed until 1.33',
    spec: { containers: [{ name: 'c', livenessProbe: { httpGet: { host: 'x', port: 80 } } }] },
    expected: 'probe or lifecycle host (container "c" uses probe or lifecycle host "x")',
  },
  {
    name: 'hosts in probes as of 1.33',
    minor: 33,
    spec: { containers: [{ name: 'c', livenessProbe: { httpGet: { host: 'x', port: 80 } } }] },
    expected: '',
  },
  {
    name: 'privileged containers and unmasked /proc',
    spec: { containers: [{ name: 'c', securityContext: { privileged: true, procMount: 'Unmasked' } }] },
    expected:
      'privileged (container "c" must not set securityContext.privileged=true), procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    name: 'unmasked /proc of a pod with users of its own',
    spec: { hostUsers: false, containers: [{ name: 'c', securityContext: { procMount: 'Unmasked' } }] },
    expected: '',
  },
  {
    name: 'SELinux',
    spec: {
      securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u', role: 'r' } },
      containers: [{ name: 'c', securityContext: { seLinuxOptions: { type: 'container_t' } } }],
    },
    expected:
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
  },
  {
    name: 'SELinux types as of 1.30',
    minor: 30,
    spec: { securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
    expected: 'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
  },
  {
    name: 'seccomp profiles',
    spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } },
    expected: 'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    name: 'seccomp annotations until 1.18',
    minor: 18,
    annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
    spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } },
    expected: 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  },
  {
    name: 'sysctls by version',
    minor: 28,
    spec: {
      securityContext: {
        sysctls: [
          { name: 'net.ipv4.tcp_rmem', value: '1' },
          { name: 'net.ipv4.ip_local_reserved_ports', value: '1' },
        ],
      },
    },
    expected: 'forbidden sysctls (net.ipv4.tcp_rmem)',
  },
  {
    name: 'sysctls of a later version than this one',
    minor: 99,
    spec: { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_notsent_lowat', value: '1' }] } },
    expected: 'forbidden sysctls (net.ipv4.tcp_notsent_lowat)',
  },
  {
    name: 'host processes of Windows',
    spec: { containers: [{ name: 'c', securityContext: { windowsOptions: { hostProcess: true } } }] },
    expected: 'hostProcess (container "c" must not set securityContext.windowsOptions.hostProcess=true)',
  },
  {
    name: 'ephemeral containers',
    spec: { ephemeralContainers: [{ name: 'e', securityContext: { privileged: true } }] },
    expected: 'privileged (container "e" must not set securityContext.privileged=true)',
  },
];

const RESTRICTED: readonly Case[] = [
  {
    name: 'a plain pod',
    spec: {},
    expected:
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  },
  { name: 'a harmless pod', spec: { containers: [{ name: 'c', securityContext: HARMLESS }] }, expected: '' },
  {
    name: 'what only the pod says',
    spec: {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
      containers: [
        { name: 'c', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
      ],
    },
    expected: '',
  },
  {
    name: 'capabilities in place of the rule of the baseline',
    spec: {
      containers: [
        { name: 'c', securityContext: { ...HARMLESS, capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } } },
      ],
    },
    expected:
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add)',
  },
  {
    name: 'volumes in place of the rule of the baseline',
    spec: {
      volumes: [
        { name: 'a', hostPath: { path: '/' } },
        { name: 'b', nfs: { path: '/', server: 's' } },
        { name: 'c', emptyDir: {} },
      ],
      containers: [{ name: 'c', securityContext: HARMLESS }],
    },
    expected: 'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
  },
  {
    name: 'root',
    spec: {
      securityContext: { runAsUser: 0, runAsNonRoot: false },
      containers: [{ name: 'c', securityContext: HARMLESS }],
    },
    expected:
      'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod must not set runAsUser=0)',
  },
  {
    name: 'root in a pod with users of its own',
    spec: {
      hostUsers: false,
      securityContext: { runAsUser: 0, runAsNonRoot: false },
      containers: [{ name: 'c', securityContext: HARMLESS }],
    },
    expected: '',
  },
  {
    name: 'unmasked /proc of a pod with users of its own',
    spec: {
      hostUsers: false,
      containers: [{ name: 'c', securityContext: { ...HARMLESS, procMount: 'Unmasked' } }],
    },
    expected: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    name: 'a pod of Windows, which has none of it to set',
    spec: {
      os: { name: 'windows' },
      securityContext: { runAsNonRoot: true },
    },
    expected: '',
  },
  {
    name: 'a pod of Windows as of 1.24',
    minor: 24,
    spec: {
      os: { name: 'windows' },
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
    },
    expected:
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"])',
  },
  {
    name: 'a plain pod as of 1.7',
    minor: 7,
    spec: { securityContext: { runAsNonRoot: true } },
    expected: '',
  },
];

describe('violationsOf', () => {
  it.each(BASELINE)('finds in the baseline: $name', ({ annotations, expected, minor = LATEST, spec }) => {
    expect(verdict('baseline', minor, checkedPod(spec, annotations))).toBe(expected);
  });

  it.each(RESTRICTED)(
    'finds in the restricted level: $name',
    ({ annotations, expected, minor = LATEST, spec }) => {
      expect(verdict('restricted', minor, checkedPod(spec, annotations))).toBe(expected);
    },
  );

  it('finds nothing wrong where everything is allowed', () => {
    expect(verdict('privileged', LATEST, checkedPod({ hostNetwork: true }))).toBe('');
  });
});
