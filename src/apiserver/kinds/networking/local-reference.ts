import type { TypedLocalObjectReference } from '@rollkeeper/machinery/types/core-v1';
import { checkDns1123Subdomain, checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

/** Another object that configures this one. Source: validateIngressTypedLocalObjectReference in pkg/apis/networking/validation. */
export function validateLocalReference(
  { apiGroup, kind, name }: Decoded<TypedLocalObjectReference>,
  path: string,
  errors: FieldError[],
): void {
  if (apiGroup !== undefined) validateSyntax(apiGroup, checkDns1123Subdomain, `${path}.apiGroup`, errors);
  for (const [field, text] of Object.entries({ kind, name })) {
    if (!text) errors.push(required(`${path}.${field}`));
    else validateSyntax(text, checkPathSegment, `${path}.${field}`, errors);
  }
}
