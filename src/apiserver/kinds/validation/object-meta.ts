import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ObjectMeta, OwnerReference, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkQualifiedName,
  FIELD_IMMUTABLE,
  NON_NEGATIVE,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import { shortened } from '../../schema/errors/index.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required } from './field-errors.js';
import { validateAnnotations, validateLabels } from './labels.js';

export interface MetaRules {
  readonly namespaced: boolean;
  /** @default checkDns1123Subdomain */
  readonly checkName?: (name: string) => readonly string[];
  /**
   * The allowed names of finalizers: those of Kubernetes itself, or with a domain and a path (`standard-or-qualified`),
   * or any label name. The genuine server's package of the kind decides. @default 'standard-or-qualified'
   */
  readonly finalizerNames?: 'standard-or-qualified' | 'any';
}

/** The rules of `metadata` that hold for every kind. Source: apimachinery/pkg/api/validation/objectmeta.go. */
export function validateObjectMeta(
  { metadata: meta }: { readonly metadata?: Partial<ObjectMeta> },
  rules: MetaRules,
  errors: FieldError[],
  name?: 'known name',
): void {
  if (!name) validateName(meta ?? {}, rules, errors);
  validateNamespace(meta ?? {}, rules, errors);
  if ((meta?.generation ?? 0) < 0) {
    errors.push(invalid('metadata.generation', meta?.generation, NON_NEGATIVE));
  }
  validateLabels(meta?.labels, 'metadata.labels', errors);
  validateAnnotations(meta?.annotations, 'metadata.annotations', errors);
  validateOwnerReferences(meta?.ownerReferences, errors);
  validateFinalizers(meta?.finalizers, errors);
  if (rules.finalizerNames !== 'any')
    meta?.finalizers?.forEach((finalizer, index) =>
      validateOwnFinalizer(finalizer, `metadata.finalizers[${index}]`, errors),
    );
}

function validateName(meta: Partial<ObjectMeta>, rules: MetaRules, errors: FieldError[]): void {
  const check = rules.checkName ?? checkDns1123Subdomain;
  if (meta.generateName) {
    // A trailing hyphen is no fault of a prefix.
    for (const problem of check(meta.generateName.replace(/-$/, 'a'))) {
      errors.push(invalid('metadata.generateName', meta.generateName, problem));
    }
  }
  if (!meta.name) errors.push(required('metadata.name', 'name or generateName is required'));
  else for (const problem of check(meta.name)) errors.push(invalid('metadata.name', meta.name, problem));
}

function validateNamespace(meta: Partial<ObjectMeta>, rules: MetaRules, errors: FieldError[]): void {
  if (!rules.namespaced) {
    if (meta.namespace) errors.push(forbidden('metadata.namespace', 'not allowed on this type'));
  } else if (!meta.namespace) {
    errors.push(required('metadata.namespace'));
  } else {
    for (const problem of checkDns1123Label(meta.namespace)) {
      errors.push(invalid('metadata.namespace', meta.namespace, problem));
    }
  }
}

function validateOwnerReferences(
  owners: readonly Decoded<OwnerReference>[] | undefined,
  errors: FieldError[],
): void {
  let controller: Decoded<OwnerReference> | undefined;
  const path = 'metadata.ownerReferences';
  owners?.forEach((owner) => {
    if (!/^[^/]+(\/[^/]+)?$/.test(owner.apiVersion ?? '')) {
      errors.push(invalid(`${path}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty'));
    }
    for (const field of ['kind', 'name', 'uid'] as const) {
      if (!owner[field]) errors.push(invalid(`${path}.${field}`, '', 'must not be empty'));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event')
      errors.push(invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    if (owner.controller !== true) return;
    if (controller) errors.push(secondController(controller, owner, owners));
    controller ??= owner;
  });
}

function secondController(
  first: Decoded<OwnerReference>,
  second: Decoded<OwnerReference>,
  all: readonly Decoded<OwnerReference>[],
): FieldError {
  return invalid(
    'metadata.ownerReferences',
    all,
    `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`,
  );
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

function validateFinalizers(finalizers: readonly string[] | undefined, errors: FieldError[]): void {
  if (!finalizers) return;
  for (const finalizer of finalizers)
    for (const problem of checkQualifiedName(finalizer))
      errors.push(invalid('metadata.finalizers', finalizer, problem));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(
      invalid(
        'metadata.finalizers',
        finalizers,
        'finalizer orphan and foregroundDeletion cannot be both set',
      ),
    );
  }
}

/** One of the names that Kubernetes has itself, or one with a domain. */
export function validateFinalizer(finalizer: string, field: string, errors: FieldError[]): void {
  for (const problem of checkQualifiedName(finalizer)) errors.push(invalid(field, finalizer, problem));
  validateOwnFinalizer(finalizer, field, errors);
}

/** Source: validateKubeFinalizerName in pkg/apis/core/validation. */
function validateOwnFinalizer(finalizer: string, field: string, errors: FieldError[]): void {
  if (!isUnqualifiedFinalizer(finalizer)) return;
  errors.push(
    invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'),
  );
}

function isUnqualifiedFinalizer(finalizer: string): boolean {
  return !finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer);
}

/**
 * Warnings for added finalizers whose names others may use as well. Source: generateWarningsFromObj in
 * apiextensions-apiserver/pkg/registry/customresource.
 */
export function finalizerWarnings(
  { metadata }: Readonly<UnstructuredObject>,
  old: Readonly<UnstructuredObject> | undefined,
): string[] {
  const known = new Set(old?.metadata.finalizers);
  const added = new Set(metadata.finalizers?.filter((finalizer) => !known.has(finalizer)));
  return [...added]
    .filter(isUnqualifiedFinalizer)
    .sort()
    .map(
      (finalizer) =>
        `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
}

/** Validates that an update leaves the fixed fields of `metadata` unchanged. */
export function validateObjectMetaUpdate(
  object: Readonly<UnstructuredObject>,
  old: Readonly<UnstructuredObject>,
  errors: FieldError[],
): void {
  const meta = object.metadata;
  const before = old.metadata;
  const immutable = (field: keyof ObjectMeta): void => {
    if (!sameMeaning(meta[field], before[field])) {
      errors.push(invalid(`metadata.${field}`, meta[field], FIELD_IMMUTABLE));
    }
  };
  validateNewFinalizers(meta, before, errors);
  if ((meta.generation ?? 0) < (before.generation ?? 0)) {
    errors.push(invalid('metadata.generation', meta.generation ?? 0, 'must not be decremented'));
  }
  immutable('name');
  immutable('namespace');
  immutable('uid');
  immutable('creationTimestamp');
  immutable('deletionTimestamp');
  immutable('deletionGracePeriodSeconds');
  validateLabels(meta.labels, 'metadata.labels', errors);
  validateAnnotations(meta.annotations, 'metadata.annotations', errors);
  validateOwnerReferences(meta.ownerReferences, errors);
}

/** Once deletion is asked for, finalizers may only go. */
function validateNewFinalizers(meta: ObjectMeta, before: ObjectMeta, errors: FieldError[]): void {
  if (!before.deletionTimestamp) return;
  const known = new Set(before.finalizers);
  const added = (meta.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
  if (added.length === 0) return;
  const shown = shortened(`[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`, 2048);
  errors.push(
    forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
    ),
  );
}
