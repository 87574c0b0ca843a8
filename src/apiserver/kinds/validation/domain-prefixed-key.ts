import { checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from './field-errors.js';
import { validateSyntax } from './words.js';

const RESERVED = ['.k8s.io', '.kubernetes.io'];

/** Whether the domain of a key belongs to Kubernetes. */
function isReservedKey(key: string): boolean {
  const domain = `.${key.slice(0, Math.max(0, key.indexOf('/')))}`;
  return RESERVED.some((suffix) => domain.endsWith(suffix));
}

/** A key with a domain, such as `example.com/drainer`. Source: the format `k8s-prefixed-label-key`. */
export function validatePrefixedKey(key: string, field: string, errors: FieldError[]): void {
  if (key === '') errors.push(required(field));
  else if (!key.includes('/'))
    errors.push(invalid(field, key, 'must be a domain-prefixed key (such as "acme.io/foo")'));
  else validateSyntax(key, checkQualifiedName, field, errors);
}

/** The same of a participant that users name. Source: ValidateForbiddenReservedDomainSuffixes. */
export function validateOwnKey(key: string, field: string, errors: FieldError[]): void {
  validatePrefixedKey(key, field, errors);
  if (isReservedKey(key))
    errors.push(invalid(field, key, 'domain names *.k8s.io and *.kubernetes.io are reserved'));
}
