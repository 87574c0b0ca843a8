import type { Decoded, EvictionPodReference } from '@rollkeeper/machinery/kubernetes';
import { FIELD_IMMUTABLE, checkDns1123Subdomain, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

/** The target of a request or of an eviction, as it was decoded. */
export type DecodedTarget = { readonly pod?: Decoded<EvictionPodReference> } | undefined;

const PATH = 'spec.target';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A target is one pod, identified by its name and its UID. */
export function validateTarget(target: DecodedTarget, errors: FieldError[]): void {
  if (!target?.pod) {
    errors.push(invalid(PATH, '', 'must specify one of: `pod`'));
    return;
  }
  const { name = '', uid = '' } = target.pod;
  if (name === '') errors.push(required(`${PATH}.pod.name`));
  else validateSyntax(name, checkDns1123Subdomain, `${PATH}.pod.name`, errors);
  if (uid === '') errors.push(required(`${PATH}.pod.uid`));
  else if (!UUID.test(uid))
    errors.push(
      invalid(
        `${PATH}.pod.uid`,
        uid,
        'must be a lowercase UUID in the 8-4-4-4-12 format of hexadecimal digits',
      ),
    );
}

/** The target of a request or of an eviction cannot be changed. */
export function validateSameTarget(target: DecodedTarget, old: DecodedTarget, errors: FieldError[]): void {
  if (!sameMeaning(target, old)) errors.push(invalid(PATH, target ?? null, FIELD_IMMUTABLE));
}
