import { checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from './field-errors.js';

/** Paths of files in volumes and mounts. */
const RELATIVE = 'must be a relative path';

/** Refuses `..` as a part of a path. */
export function validateNoBacksteps(path: string, field: string, errors: FieldError[]): void {
  if (path.split('/').includes('..')) errors.push(invalid(field, path, "must not contain '..'"));
}

/** A path that goes down from some folder. */
export function validateLocalPath(path: string, field: string, errors: FieldError[]): void {
  if (path.startsWith('/')) errors.push(invalid(field, path, RELATIVE));
  validateNoBacksteps(path, field, errors);
}

/** The same, for a file that is written: the kubelet keeps names that begin with `..` for itself. */
export function validateLocalFile(path: string, field: string, errors: FieldError[]): void {
  validateLocalPath(path, field, errors);
  if (path.startsWith('..') && !path.split('/').includes('..'))
    errors.push(invalid(field, path, "must not start with '..'"));
}

/** The mode of a file, in octal 0 to 0777. */
export function validateFileMode(mode: number | undefined, field: string, errors: FieldError[]): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777))
    errors.push(invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive'));
}

/** Allowed characters of a URL path in Go's `url.Parse` and HTTP. */
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
  if (!SEGMENT.test(path))
    errors.push(
      invalid(field, path, `Invalid path (regex used for validation is '${SEGMENT.source.slice(1, -1)}')`),
    );
}
