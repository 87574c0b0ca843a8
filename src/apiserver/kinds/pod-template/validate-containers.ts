import { checkDns1123Label, checkPortName, checkPortNumber } from '@rollkeeper/machinery/kubernetes';
import type { Container, ContainerPort } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import {
  duplicate,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
  tooMany,
} from '../validation/field-errors.js';
import { validateSyntax, validateWords } from '../validation/words.js';
import type { WordRule } from '../validation/words.js';
import { validateEnv } from './validate-env.js';
import { validateVolumeDevices, validateVolumeMounts } from './validate-mounts.js';
import type { KnownVolumes } from './validate-mounts.js';
import { PROBES, validateContainerProbes, validateLifecycle } from './validate-probes.js';
import { validateResizePolicy, validateResources } from './validate-resources.js';
import { validateContainerSecurityContext } from './validate-security-context.js';

const WORDS: readonly WordRule[] = [
  { field: 'terminationMessagePolicy', words: ['File', 'FallbackToLogsOnError'], isRequired: true },
  { field: 'imagePullPolicy', words: ['Always', 'IfNotPresent', 'Never'], isRequired: true },
];

const PORT_WORDS: readonly WordRule[] = [
  { field: 'protocol', words: ['SCTP', 'TCP', 'UDP'], isRequired: true },
];

/** The fields that ephemeral containers may not have. Source: allowedEphemeralContainerFields. */
const NOT_EPHEMERAL = ['ports', ...PROBES, 'lifecycle', 'resizePolicy'] as const;

interface ContainerContext {
  readonly spec: Decoded<PodSpec>;
  readonly volumes: KnownVolumes;
  readonly claims: ReadonlySet<string>;
  /** Names that are taken. */
  readonly names: Set<string>;
}

/** Source: ValidateContainers and its neighbours in pkg/apis/core/validation/validation.go. */
export function validateContainers(
  spec: Decoded<PodSpec>,
  volumes: KnownVolumes,
  path: string,
  errors: FieldError[],
): void {
  const containers = spec.containers ?? [];
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const claims = new Set(spec.resourceClaims?.flatMap(({ name }) => name || []));
  const context: ContainerContext = { spec, volumes, claims, names: new Set() };
  containers.forEach((container, index) => {
    const at = `${path}.containers[${index}]`;
    validateContainer(container, context, at, errors);
    validateLifecycle(container, graceOf(spec), at, errors);
    validateContainerProbes(container, at, errors);
    validateRestarts(container, at, errors);
  });
  validateHostPortConflicts(containers, `${path}.containers`, errors);
  spec.initContainers?.forEach((container, index) =>
    validateInitContainer(container, context, `${path}.initContainers[${index}]`, errors),
  );
  validateEphemeralContainers(context, path, errors);
  if (spec.hostNetwork) validatePortsOfHost(spec, path, errors);
}

const DEFAULT_GRACE_SECONDS = 30;

function graceOf({ terminationGracePeriodSeconds: seconds }: Decoded<PodSpec>): number {
  return Number(seconds ?? DEFAULT_GRACE_SECONDS);
}

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const RESTART_ACTIONS = ['Restart', 'RestartAllContainers'];
const EXIT_CODE_OPERATORS = ['In', 'NotIn'];
const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;

/** Source: validateContainerRestartPolicy. */
function validateRestarts(
  { restartPolicy, restartPolicyRules = [] }: Decoded<Container>,
  path: string,
  errors: FieldError[],
): void {
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length > 0)
      errors.push(
        required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'),
      );
  } else if (!RESTART_POLICIES.includes(restartPolicy))
    errors.push(notSupported(`${path}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  if (restartPolicyRules.length > MAX_RESTART_RULES)
    errors.push(tooMany(`${path}.restartPolicyRules`, restartPolicyRules.length, MAX_RESTART_RULES));
  restartPolicyRules.forEach(({ action = '', exitCodes }, index) => {
    const at = `${path}.restartPolicyRules[${index}]`;
    if (!RESTART_ACTIONS.includes(action)) errors.push(notSupported(`${at}.action`, action, RESTART_ACTIONS));
    if (!exitCodes) {
      errors.push(required(`${at}.exitCodes`, 'must be specified'));
      return;
    }
    const { operator = '', values = [] } = exitCodes;
    if (!EXIT_CODE_OPERATORS.includes(operator))
      errors.push(notSupported(`${at}.exitCodes.operator`, operator, EXIT_CODE_OPERATORS));
    if (values.length > MAX_EXIT_CODES)
      errors.push(tooMany(`${at}.exitCodes.values`, values.length, MAX_EXIT_CODES));
  });
}

function validateInitContainer(
  container: Decoded<Container>,
  context: ContainerContext,
  path: string,
  errors: FieldError[],
): void {
  validateContainer(container, context, path, errors);
  validateRestarts(container, path, errors);
  if (container.restartPolicy === 'Always') {
    validateLifecycle(container, graceOf(context.spec), path, errors);
    validateContainerProbes(container, path, errors);
    return;
  }
  for (const field of ['lifecycle', ...PROBES] as const) {
    if (container[field])
      errors.push(
        forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
      );
  }
}

/** Source: validateEphemeralContainers. */
function validateEphemeralContainers(context: ContainerContext, path: string, errors: FieldError[]): void {
  const { spec } = context;
  const others = new Set(
    [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name),
  );
  spec.ephemeralContainers?.forEach((container, index) => {
    const at = `${path}.ephemeralContainers[${index}]`;
    validateContainer(container, context, at, errors);
    const target = container.targetContainerName;
    if (target && !others.has(target)) errors.push(notFound(`${at}.targetContainerName`, target));
    for (const field of NOT_EPHEMERAL)
      if (container[field])
        errors.push(forbidden(`${at}.${field}`, 'cannot be set for an Ephemeral Container'));
    if (container.resources && Object.keys(container.resources).length > 0)
      errors.push(forbidden(`${at}.resources`, 'cannot be set for an Ephemeral Container'));
    container.volumeMounts?.forEach(({ subPath, subPathExpr }, position) => {
      const mount = `${at}.volumeMounts[${position}]`;
      if (subPath) errors.push(forbidden(`${mount}.subPath`, 'cannot be set for an Ephemeral Container'));
      if (subPathExpr)
        errors.push(forbidden(`${mount}.subPathExpr`, 'cannot be set for an Ephemeral Container'));
    });
  });
}

function validateContainer(
  container: Decoded<Container>,
  { names, volumes, spec, claims }: ContainerContext,
  path: string,
  errors: FieldError[],
): void {
  if (!container.name) errors.push(required(`${path}.name`));
  else validateSyntax(container.name, checkDns1123Label, `${path}.name`, errors);
  if (!container.image) errors.push(required(`${path}.image`));
  validateWords(container, WORDS, path, errors);
  validatePorts(container.ports, `${path}.ports`, errors);
  validateEnv(container, path, errors);
  if (container.volumeMounts) validateVolumeMounts(container, volumes, path, errors);
  if (container.volumeDevices) validateVolumeDevices(container, volumes, path, errors);
  validateResources(container.resources, `${path}.resources`, errors, { claims });
  if (container.resizePolicy) validateResizePolicy(container.resizePolicy, `${path}.resizePolicy`, errors);
  if (container.securityContext)
    validateContainerSecurityContext(
      container.securityContext,
      spec.hostUsers,
      `${path}.securityContext`,
      errors,
    );
  const { name } = container;
  if (!name) return;
  if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
  names.add(name);
}

/** Source: validateHostNetwork. A port that names none gets its own when the pod is made, so a template may leave it out. */
function validatePortsOfHost(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  for (const list of ['containers', 'initContainers'] as const)
    spec[list]?.forEach(({ ports }, container) =>
      ports?.forEach(({ containerPort, hostPort }, index) => {
        if (hostPort && hostPort !== containerPort)
          errors.push(
            invalid(
              `${path}.${list}[${container}].ports[${index}].hostPort`,
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          );
      }),
    );
}

/** Source: validateContainerPorts in pkg/apis/core/validation/validation.go. */
function validatePorts(
  ports: readonly Decoded<ContainerPort>[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  const names = new Set<string>();
  ports?.forEach((port, index) => {
    const at = `${path}[${index}]`;
    if (port.name) {
      const problems = checkPortName(port.name);
      if (problems.length > 0) validateSyntax(port.name, () => problems, `${at}.name`, errors);
      else if (names.has(port.name)) errors.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    if (!port.containerPort) errors.push(required(`${at}.containerPort`));
    else validateSyntax(port.containerPort, checkPortNumber, `${at}.containerPort`, errors);
    if (port.hostPort) validateSyntax(port.hostPort, checkPortNumber, `${at}.hostPort`, errors);
    validateWords(port, PORT_WORDS, at, errors);
  });
}

/** Two containers of one pod cannot have the same port of the host. */
function validateHostPortConflicts(
  containers: readonly Decoded<Container>[],
  path: string,
  errors: FieldError[],
): void {
  const taken = new Set<string>();
  containers.forEach((container, index) => {
    container.ports?.forEach((port, at) => {
      if (!port.hostPort) return;
      const place = `${port.protocol ?? 'TCP'}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(place)) errors.push(duplicate(`${path}[${index}].ports[${at}].hostPort`, place));
      taken.add(place);
    });
  });
}
