import type { Decoded, DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import {
  FIELD_IMMUTABLE,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkQualifiedName,
} from '@rollkeeper/machinery/kubernetes';
import type { PodStatus } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../../kind-definition.js';
import { checkIp, familyOf } from '../../validation/addresses.js';
import { duplicate, forbidden, invalid, required } from '../../validation/field-errors.js';
import { validateSyntax } from '../../validation/words.js';

type Status = Decoded<PodStatus>;

/**
 * Validates the status that a kubelet writes of a pod. Source: ValidatePodStatusUpdate in
 * pkg/apis/core/validation/validation.go.
 */
export function validatePodStatus(
  pod: DecodedObject<Pod>,
  old: DecodedObject<Pod>,
  errors: FieldError[],
): void {
  const [status, before] = [pod.status ?? {}, old.status ?? {}];
  validateConditions(status.conditions ?? [], errors);
  if (pod.spec?.nodeName !== old.spec?.nodeName)
    errors.push(forbidden('status.nodeName', 'may not be changed directly'));
  const { nominatedNodeName: nominated, observedGeneration = 0, qosClass } = status;
  if (nominated && nominated !== before.nominatedNodeName)
    validateSyntax(nominated, checkDns1123Subdomain, 'status.nominatedNodeName', errors);
  if (observedGeneration < 0) errors.push(invalid('status.observedGeneration', observedGeneration, NEGATIVE));
  if ((qosClass ?? '') !== (before.qosClass ?? ''))
    errors.push(invalid('status.qosClass', qosClass ?? '', FIELD_IMMUTABLE));
  if (status.extendedResourceClaimStatus)
    validateExtendedClaim(status.extendedResourceClaimStatus, pod.spec ?? {}, errors);
  validateAddresses(status.podIPs ?? [], before.podIPs ?? [], 'status.podIPs', errors);
  const [first] = status.hostIPs ?? [];
  if (first && (first.ip ?? '') !== (status.hostIP ?? ''))
    errors.push(invalid('status.hostIPs[0].ip', first.ip ?? '', 'must be equal to `hostIP`'));
  validateAddresses(status.hostIPs ?? [], before.hostIPs ?? [], 'status.hostIPs', errors);
}

const EXTENDED = 'status.extendedResourceClaimStatus';

/** Source: validatePodExtendedResourceClaimStatus. */
function validateExtendedClaim(
  { requestMappings = [], resourceClaimName = '' }: NonNullable<Status['extendedResourceClaimStatus']>,
  spec: NonNullable<DecodedObject<Pod>['spec']>,
  errors: FieldError[],
): void {
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((one) => [one.name, one]),
  );
  const path = `${EXTENDED}.requestMappings`;
  if (requestMappings.length === 0) errors.push(required(path, 'at least one request mapping is required'));
  const seen = new Set<string>();
  requestMappings.forEach(({ containerName = '', resourceName = '', requestName = '' }, index) => {
    const at = `${path}[${index}]`;
    const container = containers.get(containerName);
    if (!container)
      errors.push(
        invalid(
          `${at}.containerName`,
          containerName,
          'must match the name of an entry in spec.initContainers.name or spec.containers.name',
        ),
      );
    else if (container.resources?.requests?.[resourceName] === undefined)
      errors.push(
        invalid(
          `${at}.resourceName`,
          resourceName,
          'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
        ),
      );
    validateSyntax(requestName, checkDns1123Label, `${EXTENDED}.requestName`, errors);
    const key = [containerName, resourceName, requestName].join('\n');
    if (seen.has(key)) {
      errors.push(duplicate(`${at}.containerName`, containerName));
      errors.push(duplicate(`${at}.resourceName`, resourceName));
      errors.push(duplicate(`${at}.requestName`, requestName));
    }
    seen.add(key);
  });
  if (resourceClaimName === '') errors.push(required(`${EXTENDED}.resourceClaimName`));
  else validateSyntax(resourceClaimName, checkDns1123Subdomain, `${EXTENDED}.resourceClaimName`, errors);
}

const NEGATIVE = 'must be a non-negative integer';
const OF_THE_SYSTEM: ReadonlySet<string> = new Set(['Initialized', 'PodScheduled', 'Ready']);

function validateConditions(conditions: NonNullable<Status['conditions']>, errors: FieldError[]): void {
  conditions.forEach(({ observedGeneration = 0, type = '' }, index) => {
    const path = `status.conditions[${index}]`;
    if (observedGeneration < 0)
      errors.push(invalid(`${path}.observedGeneration`, observedGeneration, NEGATIVE));
    if (!OF_THE_SYSTEM.has(type)) validateSyntax(type, checkQualifiedName, `${path}.Type`, errors);
  });
}

interface Address {
  readonly ip?: string;
}

/** One of each family at most. What has been there before is not looked at. */
function validateAddresses(
  addresses: readonly Address[],
  before: readonly Address[],
  path: string,
  errors: FieldError[],
): void {
  const known = new Set(before.map(({ ip }) => ip));
  const ips = addresses.map(({ ip = '' }) => ip);
  ips.forEach((ip, index) => {
    if (!known.has(ip)) validateSyntax(ip, checkIp, `${path}[${index}]`, errors);
  });
  if (ips.length < 2) return;
  const families = ips.filter((ip) => checkIp(ip).length === 0).map(familyOf);
  if (ips.length > 2 || new Set(families).size < 2)
    errors.push(
      invalid(
        path,
        ips.map((ip) => ({ IP: ip })),
        'may specify no more than one IP for each IP family',
      ),
    );
}
