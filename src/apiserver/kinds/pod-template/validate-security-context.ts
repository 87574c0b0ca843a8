import { outOfRange } from '@rollkeeper/machinery/kubernetes';
import type {
  AppArmorProfile,
  PodSecurityContext,
  SeccompProfile,
  SecurityContext,
} from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { validateLocalPath } from '../validation/paths.js';
import { validateWords } from '../validation/words.js';
import type { WordRule } from '../validation/words.js';

const MAX_ID = 2 ** 31 - 1;
const MAX_SYSCTL = 253;
const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL_PATTERN = new RegExp(SYSCTL);

const POD_WORDS: readonly WordRule[] = [
  { field: 'fsGroupChangePolicy', words: ['Always', 'OnRootMismatch'] },
  { field: 'supplementalGroupsPolicy', words: ['Merge', 'Strict'] },
];
const PROC_MOUNT: readonly WordRule[] = [{ field: 'procMount', words: ['Default', 'Unmasked'] }];

/** Source: ValidatePodSecurityContext in pkg/apis/core/validation/validation.go. */
export function validatePodSecurityContext(
  context: Decoded<PodSecurityContext>,
  { spec, old }: { readonly spec: Decoded<PodSpec>; readonly old?: Decoded<PodSpec> },
  path: string,
  errors: FieldError[],
): void {
  for (const field of ['fsGroup', 'runAsUser', 'runAsGroup'] as const)
    validateId(context[field], `${path}.${field}`, errors);
  context.supplementalGroups?.forEach((id, index) =>
    validateId(id, `${path}.supplementalGroups[${index}]`, errors),
  );
  if (spec.shareProcessNamespace && spec.hostPID)
    errors.push(
      invalid(
        `${path}.shareProcessNamespace`,
        true,
        'ShareProcessNamespace and HostPID cannot both be enabled',
      ),
    );
  validateSysctls(context.sysctls, spec, `${path}.sysctls`, errors);
  validateWords(context, POD_WORDS, path, errors);
  // SELinuxMount is off by default in 1.36; what has a policy may have either.
  const hasPolicy = old?.securityContext?.seLinuxChangePolicy !== undefined;
  const words = hasPolicy ? ['MountOption', 'Recursive'] : ['Recursive'];
  validateWords(context, [{ field: 'seLinuxChangePolicy', words }], path, errors);
  validateProfiles(context, path, errors);
}

/** Source: ValidateSecurityContext. */
export function validateContainerSecurityContext(
  context: Decoded<SecurityContext>,
  hostUsers: boolean | undefined,
  path: string,
  errors: FieldError[],
): void {
  validateId(context.runAsUser, `${path}.runAsUser`, errors);
  validateId(context.runAsGroup, `${path}.runAsGroup`, errors);
  validateWords(context, PROC_MOUNT, path, errors);
  if (context.procMount === 'Unmasked' && hostUsers !== false)
    errors.push(
      invalid(`${path}.procMount`, context.procMount, '`hostUsers` must be false to use `Unmasked`'),
    );
  validateProfiles(context, path, errors);
  if (context.allowPrivilegeEscalation !== false) return;
  if (context.privileged)
    errors.push(
      invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
    );
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN'))
    errors.push(
      invalid(
        path,
        context,
        'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
      ),
    );
}

/**
 * Containers that run as processes of a Windows node: all of them or none, and with its network.
 * Source: validateWindowsHostProcessPod.
 */
export function validateHostProcesses(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let containers = 0;
  let hostProcesses = 0;
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    spec[list]?.forEach(({ securityContext }, index) => {
      const own = securityContext?.windowsOptions?.hostProcess;
      if (ofPod !== undefined && own !== undefined && own !== ofPod)
        errors.push(
          invalid(
            `${path}.${list}[${index}].securityContext.windowsOptions.hostProcess`,
            own,
            `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
          ),
        );
      containers++;
      if (own ?? ofPod) hostProcesses++;
    });
  if (hostProcesses === 0) return;
  if (hostProcesses !== containers)
    errors.push(
      invalid(
        path,
        '',
        'If pod contains any hostProcess containers then all containers must be HostProcess containers',
      ),
    );
  if (!spec.hostNetwork)
    errors.push(
      invalid(
        `${path}.hostNetwork`,
        false,
        'hostNetwork must be true if pod contains any hostProcess containers',
      ),
    );
}

const NOT_WITH_OWN_USERS = 'when `hostUsers` is false';
/** With their names in messages. */
const NAMESPACES = [
  ['hostNetwork', 'hostNetwork'],
  ['hostPID', 'HostPID'],
  ['hostIPC', 'HostIPC'],
] as const;

/**
 * A pod with users of its own shares no other namespace with its host.
 * Source: validateHostUsers.
 */
export function validateHostUsers(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  if (spec.hostUsers !== false) return;
  for (const [field, shown] of NAMESPACES)
    if (spec[field]) errors.push(forbidden(`${path}.${shown}`, NOT_WITH_OWN_USERS));
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    spec[list]?.forEach(({ volumeDevices }, index) => {
      if (volumeDevices?.length)
        errors.push(forbidden(`${path}.${list}[${index}].volumeDevices`, NOT_WITH_OWN_USERS));
    });
}

function validateId(id: number | undefined, field: string, errors: FieldError[]): void {
  if (id !== undefined && (id < 0 || id > MAX_ID)) errors.push(invalid(field, id, outOfRange(0, MAX_ID)));
}

function validateProfiles(
  { seccompProfile, appArmorProfile }: Pick<Decoded<SecurityContext>, 'seccompProfile' | 'appArmorProfile'>,
  path: string,
  errors: FieldError[],
): void {
  if (seccompProfile) validateSeccomp(seccompProfile, `${path}.seccompProfile`, errors);
  if (appArmorProfile) validateAppArmor(appArmorProfile, `${path}.appArmorProfile`, errors);
}

const PROFILES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

/** Source: validateSeccompProfileField. */
function validateSeccomp(
  profile: Partial<Decoded<SeccompProfile>>,
  path: string,
  errors: FieldError[],
): void {
  const { type, localhostProfile } = profile;
  const field = `${path}.localhostProfile`;
  if (!type) errors.push(required(`${path}.type`, 'type is required when seccompProfile is set'));
  else if (!PROFILES.includes(type)) errors.push(notSupported(`${path}.type`, type, PROFILES));
  if (type === 'Localhost') {
    if (localhostProfile === undefined)
      errors.push(required(field, 'must be set when seccomp type is Localhost'));
    else validateLocalPath(localhostProfile, field, errors);
  } else if (localhostProfile !== undefined)
    errors.push(
      invalid(
        field,
        internalForm('core.SeccompProfile', profile),
        'can only be set when seccomp type is Localhost',
      ),
    );
}

const MAX_PATH = 4095;

/** Source: ValidateAppArmorProfileField. */
function validateAppArmor(
  { type, localhostProfile }: Partial<Decoded<AppArmorProfile>>,
  path: string,
  errors: FieldError[],
): void {
  const field = `${path}.localhostProfile`;
  if (!type) errors.push(required(`${path}.type`, 'type is required when appArmorProfile is set'));
  else if (!PROFILES.includes(type)) errors.push(notSupported(`${path}.type`, type, PROFILES));
  else if (type !== 'Localhost') {
    if (localhostProfile !== undefined)
      errors.push(invalid(field, localhostProfile, 'can only be set when AppArmor type is Localhost'));
  } else if (!localhostProfile) errors.push(required(field, 'must be set when AppArmor type is Localhost'));
  else {
    if (localhostProfile !== localhostProfile.trim())
      errors.push(invalid(field, localhostProfile, 'must not be padded with whitespace'));
    if (Buffer.byteLength(localhostProfile) > MAX_PATH) errors.push(tooLong(field, MAX_PATH));
  }
}

function validateSysctls(
  sysctls: Decoded<PodSecurityContext>['sysctls'],
  spec: Decoded<PodSpec>,
  path: string,
  errors: FieldError[],
): void {
  const names = new Set<string>();
  sysctls?.forEach(({ name = '' }, index) => {
    const field = `${path}[${index}].name`;
    if (!name) errors.push(required(field));
    else if (name.length > MAX_SYSCTL || !SYSCTL_PATTERN.test(name))
      errors.push(
        invalid(field, name, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL}`),
      );
    else if (names.has(name)) errors.push(duplicate(field, name));
    const isOfHost =
      (spec.hostNetwork && name.startsWith('net.')) ||
      (spec.hostIPC && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(name));
    if (isOfHost)
      errors.push(invalid(field, name, 'may not be specified when the pod shares it with its host'));
    names.add(name);
  });
}

/** Linux and Windows have parts of the context for themselves. Source: validateWindows, validateLinux. */
export function validateContextOfOs(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const os = spec.os?.name;
  if (os !== 'windows' && os !== 'linux') return;
  const { securityContext: own } = spec;
  const foreign = os === 'linux' ? ['windowsOptions'] : NOT_ON_WINDOWS;
  const refuse = (context: Readonly<Record<string, unknown>> | undefined, at: string): void => {
    for (const field of foreign)
      if (context?.[field] !== undefined)
        errors.push(forbidden(`${at}.${field}`, `cannot be set for a ${os} pod`));
  };
  refuse(own, `${path}.securityContext`);
  for (const list of ['containers', 'initContainers'] as const)
    spec[list]?.forEach((container, index) =>
      refuse(container.securityContext, `${path}.${list}[${index}].securityContext`),
    );
  if (os === 'windows')
    for (const field of ['hostPID', 'hostIPC', 'hostUsers', 'shareProcessNamespace'] as const)
      if (spec[field]) errors.push(forbidden(`${path}.${field}`, 'cannot be set for a windows pod'));
}

const NOT_ON_WINDOWS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'supplementalGroups',
  'supplementalGroupsPolicy',
];
