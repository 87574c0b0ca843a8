import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { DownwardAPIVolumeFile, KeyToPath } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateFileMode, validateLocalFile } from '../validation/paths.js';
import { validateFieldRef, validateResourceFieldRef } from './validate-field-refs.js';

/** Validates which keys become which files. Source: validateKeyToPath. */
export function validateItems(
  items: readonly Decoded<KeyToPath>[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  items?.forEach((item, index) => {
    const at = `${path}[${index}]`;
    if (!item.key) errors.push(required(`${at}.key`));
    if (!item.path) errors.push(required(`${at}.path`));
    validateLocalFile(item.path ?? '', `${at}.path`, errors);
    validateFileMode(item.mode, `${at}.mode`, errors);
  });
}

/** Source: validateDownwardAPIVolumeFile, whose complaints leave out which of the files it is. */
export function validateDownwardFile(
  { path: file, fieldRef, resourceFieldRef, mode }: Decoded<DownwardAPIVolumeFile>,
  path: string,
  errors: FieldError[],
): void {
  if (!file) errors.push(required(`${path}.path`));
  validateLocalFile(file ?? '', `${path}.path`, errors);
  if (fieldRef && resourceFieldRef)
    errors.push(
      invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
    );
  else if (fieldRef) validateFieldRef(fieldRef, 'volume', `${path}.fieldRef`, errors);
  else if (resourceFieldRef)
    validateResourceFieldRef(resourceFieldRef, 'volume', `${path}.resourceFieldRef`, errors);
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  validateFileMode(mode, `${path}.mode`, errors);
}
