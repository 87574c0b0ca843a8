import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { canonicalQuantity, checkQualifiedName, ownField } from '@rollkeeper/machinery/kubernetes';
import type { ObjectFieldSelector, ResourceFieldSelector } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required } from '../validation/field-errors.js';

/** The place where a value is used; it decides which fields the value may come from. */
type FieldRefUse = 'env' | 'volume';

const FIELDS: Readonly<Record<FieldRefUse, readonly string[]>> = {
  env: [
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    'spec.nodeName',
    'spec.serviceAccountName',
    'status.hostIP',
    'status.hostIPs',
    'status.podIP',
    'status.podIPs',
  ],
  volume: ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
};

/** Every field that has a name in the downward API. */
const KNOWN = new Set([
  ...FIELDS.env,
  ...FIELDS.volume,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);
const SUBSCRIPTED = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/;

/** Source: validateObjectFieldSelector in pkg/apis/core/validation/validation.go. */
export function validateFieldRef(
  { apiVersion, fieldPath }: Decoded<ObjectFieldSelector>,
  use: FieldRefUse,
  path: string,
  errors: FieldError[],
): void {
  if (!apiVersion) {
    errors.push(required(`${path}.apiVersion`));
    return;
  }
  if (!fieldPath) {
    errors.push(required(`${path}.fieldPath`));
    return;
  }
  const subscript = SUBSCRIPTED.exec(fieldPath);
  if (subscript) {
    const key = subscript[2] ?? '';
    const name = subscript[1] === 'metadata.annotations' ? key.toLowerCase() : key;
    for (const problem of checkQualifiedName(name)) errors.push(invalid(path, key, problem));
  } else if (!KNOWN.has(fieldPath) || apiVersion !== 'v1') {
    errors.push(
      invalid(
        `${path}.fieldPath`,
        fieldPath,
        `error converting fieldPath: field label not supported: ${fieldPath}`,
      ),
    );
  } else if (!FIELDS[use].includes(fieldPath))
    errors.push(notSupported(`${path}.fieldPath`, fieldPath, FIELDS[use]));
}

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [
  `limits.${name}`,
  `requests.${name}`,
]);
const BINARY_DIVISORS = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';

interface Divisors {
  readonly divisors: string;
  readonly name: string;
}

const DIVISORS: Readonly<Record<string, Divisors>> = {
  cpu: { divisors: '1m and 1', name: 'cpu' },
  memory: { divisors: BINARY_DIVISORS, name: 'memory' },
  'ephemeral-storage': { divisors: BINARY_DIVISORS, name: 'local ephemeral storage' },
};
const DIVISORS_OF_HUGE_PAGES: Divisors = { divisors: BINARY_DIVISORS, name: 'hugepages' };

/** Source: validateContainerResourceFieldSelector. */
export function validateResourceFieldRef(
  { containerName, resource, divisor }: Decoded<ResourceFieldSelector>,
  use: FieldRefUse,
  path: string,
  errors: FieldError[],
): void {
  if (use === 'volume' && !containerName) {
    errors.push(required(`${path}.containerName`));
    return;
  }
  if (!resource) {
    errors.push(required(`${path}.resource`));
    return;
  }
  const isHugePages = /^(limits|requests)\.hugepages-/.test(resource);
  if (!RESOURCES.includes(resource) && !isHugePages) {
    errors.push(notSupported(`${path}.resource`, resource, [...RESOURCES].sort()));
    return;
  }
  const amount = canonicalQuantity(String(divisor ?? '0')) ?? '';
  const { divisors, name } =
    ownField(DIVISORS, resource.slice(resource.indexOf('.') + 1)) ?? DIVISORS_OF_HUGE_PAGES;
  // It is the resource that is shown.
  if (amount !== '0' && !divisors.split(/, | and /).includes(amount))
    errors.push(
      invalid(
        `${path}.divisor`,
        resource,
        `only divisor's values ${divisors} are supported with the ${name} resource`,
      ),
    );
}
