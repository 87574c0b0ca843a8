import type { Container, LifecycleHandler, Probe } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { goQuote } from '@rollkeeper/machinery/kubernetes';
import type { Check, CheckedPod } from './check.js';
import { allContainers, containersNamed, namesOf, plural, quoted, settersOf, sorted } from './check.js';

const APP_ARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

export const appArmorProfile: Check = ({ annotations, spec }) => {
  const { values, who } = settersOf(spec, ({ appArmorProfile }) => badProfile(appArmorProfile));
  const forbidden = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(APP_ARMOR_ANNOTATION) && !isAllowedAppArmor(value))
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .sort();
  const setters = [who, forbidden.length === 0 ? '' : plural('annotation', forbidden.length)].filter(Boolean);
  if (setters.length === 0) return undefined;
  const all = [...values, ...forbidden];
  return {
    reason: plural('forbidden AppArmor profile', all.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(all)}`,
  };
};

/** A profile that is neither the runtime's default nor one of the node's own. */
export function badProfile(profile: { readonly type?: string } | undefined): readonly string[] {
  if (!profile) return [];
  const { type = '' } = profile;
  return type === 'RuntimeDefault' || type === 'Localhost' ? [] : [type];
}

function isAllowedAppArmor(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/');
}

export const capabilities: Check = ({ spec }) => {
  const added = ({ securityContext }: Decoded<Container>): readonly string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !CAPABILITIES.has(name));
  const containers = namesOf(spec, (container) => added(container).length > 0);
  if (containers.length === 0) return undefined;
  const names = sorted(allContainers(spec).flatMap(added));
  return {
    reason: 'non-default capabilities',
    detail: `${containersNamed(containers)} must not include ${quoted(names)} in securityContext.capabilities.add`,
  };
};

export const hostNamespaces: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
};

export const hostPathVolumes: Check = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name = '' }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', names.length)} ${quoted(names)}` };
};

export const hostPorts: Check = ({ spec }) => {
  const portsOf = ({ ports = [] }: Decoded<Container>): readonly string[] =>
    ports.filter(({ hostPort = 0 }) => Number(hostPort) !== 0).map(({ hostPort }) => String(hostPort));
  const containers = namesOf(spec, (container) => portsOf(container).length > 0);
  if (containers.length === 0) return undefined;
  const ports = sorted(allContainers(spec).flatMap(portsOf));
  return {
    reason: 'hostPort',
    detail: `${containersNamed(containers)} ${uses(containers)} ${plural('hostPort', ports.length)} ${ports.join(', ')}`,
  };
};

/** `uses` for one, `use` for more. */
export function uses(users: readonly unknown[]): string {
  return users.length === 1 ? 'uses' : 'use';
}

export const hostProbes: Check = ({ spec }) => {
  const containers = sorted(namesOf(spec, (container) => hostsOf(container).length > 0));
  if (containers.length === 0) return undefined;
  const hosts = sorted(allContainers(spec).flatMap(hostsOf));
  const what = plural('probe or lifecycle host', hosts.length);
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersNamed(containers)} ${uses(containers)} ${what} ${quoted(hosts)}`,
  };
};

function hostsOf(container: Decoded<Container>): readonly string[] {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  const handlers: readonly (Decoded<Probe> | Decoded<LifecycleHandler> | undefined)[] = [
    livenessProbe,
    readinessProbe,
    startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''])
    .filter(Boolean);
}

export const privileged: Check = ({ spec }) => {
  const containers = namesOf(spec, ({ securityContext }) => securityContext?.privileged === true);
  if (containers.length === 0) return undefined;
  return {
    reason: 'privileged',
    detail: `${containersNamed(containers)} must not set securityContext.privileged=true`,
  };
};

export const procMount: Check = ({ spec }) => {
  const mountOf = ({ securityContext }: Decoded<Container>): readonly string[] => {
    const type = securityContext?.procMount;
    return type === undefined || type === 'Default' ? [] : [type];
  };
  const containers = namesOf(spec, (container) => mountOf(container).length > 0);
  if (containers.length === 0) return undefined;
  const types = sorted(allContainers(spec).flatMap(mountOf));
  return {
    reason: 'procMount',
    detail: `${containersNamed(containers)} must not set securityContext.procMount to ${quoted(types)}`,
  };
};

/** Lets pods in a user namespace of their own do it. */
export function unlessOwnUsers(check: Check): Check {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}

/** @param allowed the types that a process may have, beside none */
export function seLinuxOptions(allowed: readonly string[]): Check {
  return ({ spec }) => {
    const types = new Set<string>();
    const { values, who } = settersOf(spec, ({ seLinuxOptions: options }) => {
      if (!options) return [];
      const { role = '', type = '', user = '' } = options;
      const isBadType = type !== '' && !allowed.includes(type);
      if (isBadType) types.add(type);
      return [
        ...(isBadType ? ['type'] : []),
        ...(user === '' ? [] : ['user']),
        ...(role === '' ? [] : ['role']),
      ];
    });
    if (who === '') return undefined;
    const data = [
      ...(types.size === 0 ? [] : [`${plural('type', types.size)} ${quoted(sorted(types))}`]),
      ...['user', 'role'].filter((field) => values.includes(field)).map((field) => `${field} may not be set`),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    };
  };
}

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';

/** Until 1.18 annotations said it. */
export const seccompAnnotations: Check = ({ annotations, spec }) => {
  const keys = [SECCOMP_POD, ...namesOf(spec, () => true).map((name) => SECCOMP_CONTAINER + name)];
  const forbidden = keys.flatMap((key) => {
    const value = annotations[key];
    return value === undefined || isAllowedSeccomp(value) ? [] : [`${key}=${goQuote(value)}`];
  });
  if (forbidden.length === 0) return undefined;
  const different = sorted(forbidden);
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', different.length)} ${different.join(', ')}`,
  };
};

function isAllowedSeccomp(profile: string): boolean {
  return profile === 'runtime/default' || profile === 'docker/default' || profile.startsWith('localhost/');
}

export const seccompProfile: Check = ({ spec }) => {
  const { values, who } = settersOf(spec, ({ seccompProfile: profile }) => badProfile(profile));
  if (who === '') return undefined;
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  };
};

/** @param allowed names that change nothing outside the pod */
export function sysctls(allowed: readonly string[]): Check {
  return ({ spec }: CheckedPod) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name = '' }) => name);
    const forbidden = names.filter((name) => !allowed.includes(name));
    return forbidden.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: forbidden.join(', ') };
  };
}

export const windowsHostProcess: Check = ({ spec }) => {
  const { who } = settersOf(spec, ({ windowsOptions }) =>
    windowsOptions?.hostProcess === true ? ['hostProcess'] : [],
  );
  if (who === '') return undefined;
  return {
    reason: 'hostProcess',
    detail: `${who} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};
