import type { FieldError } from '../kind-definition.js';
import { invalid, required } from './field-errors.js';
import { checkDns1123Subdomain } from './syntax.js';

/** What may stand in a path of a URL, as Go's `url.Parse` and HTTP know it. */
const SEGMENT = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** `example.com/some/path`: a domain, and what it calls its own. Source: IsDomainPrefixedPath. */
export function validateDomainPath(text: string, field: string, errors: FieldError[]): void {
  if (text === '') {
    errors.push(required(field));
    return;
  }
  const at = text.indexOf('/');
  const domain = text.slice(0, at);
  const path = text.slice(at + 1);
  if (at < 1 || path === '') {
    errors.push(invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")'));
    return;
  }
  for (const problem of checkDns1123Subdomain(domain)) errors.push(invalid(field, domain, problem));
  if (!SEGMENT.test(path)) errors.push(invalid(field, path, 'Invalid path'));
}
