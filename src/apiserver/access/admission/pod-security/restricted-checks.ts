import type { Container, SecurityContext, Volume } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { badProfile, uses } from './baseline-checks.js';
import type { Check, CheckedPod } from './check.js';
import { allContainers, containersNamed, namesOf, plural, quoted, settersOf, sorted } from './check.js';

/** Sources of volumes that every pod may have. */
const HARMLESS_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const satisfies readonly (keyof Volume)[];

/** Pods of Windows have none of it to set. */
export function unlessWindows(check: Check): Check {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : check(pod));
}

export const allowPrivilegeEscalation: Check = ({ spec }) => {
  const containers = namesOf(
    spec,
    ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  );
  if (containers.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersNamed(containers)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const onlyNetBindService: Check = ({ spec }) => {
  const forbiddenOf = ({ securityContext }: Decoded<Container>): readonly string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE');
  const keeping = namesOf(
    spec,
    ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'),
  );
  const adding = namesOf(spec, (container) => forbiddenOf(container).length > 0);
  const added = sorted(allContainers(spec).flatMap(forbiddenOf));
  const details = [
    ...(keeping.length === 0
      ? []
      : [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${containersNamed(adding)} must not include ${quoted(added)} in securityContext.capabilities.add`]),
  ];
  return details.length === 0
    ? undefined
    : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

export const restrictedVolumes: Check = ({ spec }) => {
  const volumes = (spec.volumes ?? []).filter((volume) =>
    HARMLESS_VOLUMES.every((source) => volume[source] === undefined),
  );
  if (volumes.length === 0) return undefined;
  const types = sorted(volumes.map(sourceOf));
  const names = volumes.map(({ name = '' }) => name);
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', names.length)} ${quoted(names)} ${uses(names)} ${plural('restricted volume type', types.length)} ${quoted(types)}`,
  };
};

function sourceOf(volume: Decoded<Volume>): string {
  return Object.keys(volume).find((field) => field !== 'name') ?? 'unknown';
}

export const runAsNonRoot: Check = ({ spec }) => {
  const { who } = settersOf(spec, ({ runAsNonRoot: isSet }) => (isSet === false ? ['false'] : []));
  const reason = 'runAsNonRoot != true';
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  const silent = silentContainers(spec, ({ runAsNonRoot: isSet }) => isSet !== undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: Check = ({ spec }) => {
  const { who } = settersOf(spec, ({ runAsUser: user }) =>
    user !== undefined && Number(user) === 0 ? ['0'] : [],
  );
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
};

export const restrictedSeccompProfile: Check = ({ spec }) => {
  const { values, who } = settersOf(spec, ({ seccompProfile }) => badProfile(seccompProfile));
  const reason = 'seccompProfile';
  if (who !== '')
    return { reason, detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(values)}` };
  const silent = silentContainers(spec, ({ seccompProfile }) => seccompProfile !== undefined);
  if (silent.length === 0) return undefined;
  return {
    reason,
    detail: `pod or ${containersNamed(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};

/** The containers for which neither they nor the pod say it. */
function silentContainers(
  spec: CheckedPod['spec'],
  isSaid: (context: Decoded<SecurityContext>) => boolean,
): readonly string[] {
  if (isSaid(spec.securityContext ?? {})) return [];
  return namesOf(spec, ({ securityContext }) => !isSaid(securityContext ?? {}));
}
