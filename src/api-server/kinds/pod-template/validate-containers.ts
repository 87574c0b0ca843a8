import type { IContainer } from 'kubernetes-models/v1/Container';
import type { PodSpec } from '../../../kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notFound, required } from '../validation/field-errors.js';
import { checkDns1123Label } from '../validation/syntax.js';
import { validateSyntax, validateWords } from '../validation/words.js';
import type { WordRule } from '../validation/words.js';
import { validateEnv } from './validate-env.js';
import { validateHostPortConflicts, validatePorts } from './validate-ports.js';
import { validateContainerProbes, validateLifecycle } from './validate-probes.js';
import { validateResources } from './validate-resources.js';

const WORDS: readonly WordRule[] = [
  { field: 'terminationMessagePolicy', words: ['FallbackToLogsOnError', 'File'], isRequired: true },
  { field: 'imagePullPolicy', words: ['Always', 'IfNotPresent', 'Never'], isRequired: true },
];

/** Source: ValidateContainers and its neighbours in pkg/apis/core/validation/validation.go. */
export function validateContainers(
  spec: PodSpec,
  volumes: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  const containers = spec.containers ?? [];
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const names = new Set<string>();
  containers.forEach((container, index) => {
    const at = `${path}.containers[${index}]`;
    validateContainer(container, names, volumes, at, errors);
    validateLifecycle(container, at, errors);
    validateContainerProbes(container, at, errors);
  });
  validateHostPortConflicts(containers, `${path}.containers`, errors);
  spec.initContainers?.forEach((container, index) =>
    validateContainer(container, names, volumes, `${path}.initContainers[${index}]`, errors),
  );
}

function validateContainer(
  container: IContainer,
  names: Set<string>,
  volumes: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  if (!container.name) errors.push(required(`${path}.name`));
  else validateSyntax(container.name, checkDns1123Label, `${path}.name`, errors);
  if (!container.image) errors.push(required(`${path}.image`));
  validateWords(container, WORDS, path, errors);
  validatePorts(container.ports, `${path}.ports`, errors);
  validateEnv(container.env, `${path}.env`, errors);
  validateVolumeMounts(container, volumes, `${path}.volumeMounts`, errors);
  validateResources(container.resources, `${path}.resources`, errors);
  if (names.has(container.name)) errors.push(duplicate(`${path}.name`, container.name));
  names.add(container.name);
}

function validateVolumeMounts(
  container: IContainer,
  volumes: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  const places = new Set<string>();
  container.volumeMounts?.forEach((mount, index) => {
    const at = `${path}[${index}]`;
    if (!mount.name) errors.push(required(`${at}.name`));
    if (!volumes.has(mount.name)) errors.push(notFound(`${at}.name`, mount.name ?? ''));
    if (!mount.mountPath) errors.push(required(`${at}.mountPath`));
    if (places.has(mount.mountPath)) {
      errors.push(invalid(`${at}.mountPath`, mount.mountPath, 'must be unique'));
    }
    places.add(mount.mountPath);
  });
}
