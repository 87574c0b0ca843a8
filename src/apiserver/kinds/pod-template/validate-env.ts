import {
  checkConfigMapKey,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvName,
} from '@rollkeeper/machinery/kubernetes';
import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import type { Container, EnvVarSource } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, notFound, required } from '../validation/field-errors.js';
import { validateLocalFile } from '../validation/paths.js';
import { validateSyntax } from '../validation/words.js';
import { validateFieldRef, validateResourceFieldRef } from './validate-field-refs.js';

/** Source: ValidateEnv and ValidateEnvFrom in pkg/apis/core/validation/validation.go. */
export function validateEnv({ env, envFrom }: Decoded<Container>, path: string, errors: FieldError[]): void {
  env?.forEach((variable, index) => {
    const at = `${path}.env[${index}]`;
    if (!variable.name) errors.push(required(`${at}.name`));
    else validateSyntax(variable.name, checkEnvName, `${at}.name`, errors);
    if (variable.valueFrom)
      validateValueFrom(variable.valueFrom, variable.value ?? '', `${at}.valueFrom`, errors);
  });
  envFrom?.forEach(({ prefix, configMapRef, secretRef }, index) => {
    const at = `${path}.envFrom[${index}]`;
    if (prefix) validateSyntax(prefix, checkEnvName, `${at}.prefix`, errors);
    for (const [field, source] of Object.entries({ configMapRef, secretRef })) {
      if (!source) continue;
      if (!source.name) errors.push(required(`${at}.${field}.name`));
      else validateSyntax(source.name, checkDns1123Subdomain, `${at}.${field}.name`, errors);
    }
    if (!configMapRef && !secretRef)
      errors.push(invalid(`${path}.envFrom`, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (configMapRef && secretRef)
      errors.push(invalid(`${path}.envFrom`, '', 'may not have more than one field specified at a time'));
  });
}

function validateValueFrom(
  from: Decoded<EnvVarSource>,
  value: string,
  path: string,
  errors: FieldError[],
): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = from;
  if (fieldRef) validateFieldRef(fieldRef, 'env', `${path}.fieldRef`, errors);
  if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, 'env', `${path}.resourceFieldRef`, errors);
  for (const [field, ref] of Object.entries({ configMapKeyRef, secretKeyRef })) {
    if (!ref) continue;
    validateSyntax(ref.name ?? '', checkDns1123Subdomain, `${path}.${field}.name`, errors);
    if (!ref.key) errors.push(required(`${path}.${field}.key`));
    else validateSyntax(ref.key, checkConfigMapKey, `${path}.${field}.key`, errors);
  }
  if (fileKeyRef) validateFileKeyRef(fileKeyRef, `${path}.fileKeyRef`, errors);
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(
    (source) => source,
  );
  if (sources.length === 0) {
    errors.push(
      invalid(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    );
  } else if (value !== '') {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (sources.length > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  }
}

/** Printable ASCII without the sign that ends a key. */
const FILE_KEY = /^[ -<>-~]+$/;

/** Source: validateFileKeySelector. */
function validateFileKeyRef(
  { key = '', path: file = '', volumeName = '' }: NonNullable<Decoded<EnvVarSource>['fileKeyRef']>,
  path: string,
  errors: FieldError[],
): void {
  if (volumeName === '') errors.push(required(`${path}.volumeName`));
  else validateSyntax(volumeName, checkDns1123Label, `${path}.volumeName`, errors);
  if (file === '') errors.push(required(`${path}.path`));
  else validateLocalFile(file, `${path}.path`, errors);
  if (key === '') errors.push(required(`${path}.key`));
  else if (!FILE_KEY.test(key))
    errors.push(
      invalid(
        `${path}.key`,
        key,
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
      ),
    );
}

/** The volumes that hold variables of containers have to be there. Source: validateFileKeyRefVolumes. */
export function validateFileKeyVolumes(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const names = new Set(spec.volumes?.map(({ name }) => name));
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const)
    spec[list]?.forEach(({ env }, container) =>
      env?.forEach(({ valueFrom }, index) => {
        const name = valueFrom?.fileKeyRef?.volumeName;
        if (name && !names.has(name))
          errors.push(
            notFound(`${path}.${list}[${container}].env[${index}].valueFrom.fileKeyRef.volumeName`, name),
          );
      }),
    );
}
