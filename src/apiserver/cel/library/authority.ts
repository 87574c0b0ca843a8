import { checkDns1123Label, checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { meter } from './cost.js';
import type { AccessAttributes, ResourceAttributes } from './access-attributes.js';
import { register } from './register.js';

/** Answers an expression's variable `authorizer`, synchronously and without requests. */
export interface Authority {
  /** Whether the user of the request may do something. */
  decide(question: AccessAttributes): AuthorityDecision;
  /** The same for a service account instead. */
  forServiceAccount(namespace: string, name: string): Authority;
  /** The resource that the request itself is for. */
  readonly requestResource: Omit<ResourceAttributes, 'verb'>;
}

export interface AuthorityDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

const PACKAGE = 'kubernetes.authorization';
/** How declarations call the variable's type. */
export const AUTHORIZER_TYPE = `${PACKAGE}.Authorizer`;
const PATH_CHECK = `${PACKAGE}.PathCheck`;
const GROUP_CHECK = `${PACKAGE}.GroupCheck`;
const RESOURCE_CHECK = `${PACKAGE}.ResourceCheck`;
const DECISION = `${PACKAGE}.Decision`;
/** Two of them are as much as one evaluation may cost. */
const COST_OF_A_CHECK = 350_000;

/** The value of `authorizer`. */
export class AuthorizerValue {
  constructor(readonly authority: Authority) {}

  get requestResource(): ResourceCheck {
    return new ResourceCheck(this.authority, this.authority.requestResource);
  }
}

class PathCheck {
  constructor(
    readonly authority: Authority,
    readonly path: string,
  ) {}
}

class GroupCheck {
  constructor(
    readonly authority: Authority,
    readonly group: string,
  ) {}
}

class ResourceCheck {
  constructor(
    readonly authority: Authority,
    readonly resource: Omit<ResourceAttributes, 'verb'>,
  ) {}

  with(part: Partial<ResourceAttributes>): ResourceCheck {
    return new ResourceCheck(this.authority, { ...this.resource, ...part });
  }
}

class Decision {
  constructor(readonly outcome: AuthorityDecision) {}
}

/** Source: apiserver/pkg/cel/library/authz.go. */
export function registerAuthority(environment: Environment): void {
  environment.registerType(RESOURCE_CHECK, ResourceCheck);
  environment.registerType(AUTHORIZER_TYPE, {
    ctor: AuthorizerValue,
    fields: { requestResource: RESOURCE_CHECK },
  });
  environment.registerType(PATH_CHECK, PathCheck);
  environment.registerType(GROUP_CHECK, GroupCheck);
  environment.registerType(DECISION, Decision);
  register(environment, {
    [`${AUTHORIZER_TYPE}.path(string): ${PATH_CHECK}`]: ({ authority }: AuthorizerValue, path: string) =>
      new PathCheck(authority, notEmpty(path, 'path')),
    [`${AUTHORIZER_TYPE}.group(string): ${GROUP_CHECK}`]: ({ authority }: AuthorizerValue, group: string) =>
      new GroupCheck(authority, group),
    [`${AUTHORIZER_TYPE}.serviceAccount(string, string): ${AUTHORIZER_TYPE}`]: serviceAccount,
    [`${GROUP_CHECK}.resource(string): ${RESOURCE_CHECK}`]: (
      { authority, group }: GroupCheck,
      resource: string,
    ) =>
      new ResourceCheck(authority, {
        group,
        resource: notEmpty(resource, 'resource'),
        subresource: '',
        namespace: '',
        name: '',
      }),
    ...partsOfResources(),
    [`${PATH_CHECK}.check(string): ${DECISION}`]: ({ authority, path }: PathCheck, verb: string) =>
      check(authority, { path, verb }),
    [`${RESOURCE_CHECK}.check(string): ${DECISION}`]: (
      { authority, resource }: ResourceCheck,
      verb: string,
    ) => check(authority, { ...resource, verb }),
    [`${DECISION}.allowed(): bool`]: ({ outcome }: Decision) => outcome.allowed,
    [`${DECISION}.reason(): string`]: ({ outcome }: Decision) => outcome.reason,
    // Deciding by roles never fails.
    [`${DECISION}.errored(): bool`]: () => false,
    [`${DECISION}.error(): string`]: () => '',
  });
}

function partsOfResources(): Record<string, (check: ResourceCheck, value: string) => ResourceCheck> {
  const part = (name: string): string => `${RESOURCE_CHECK}.${name}(string): ${RESOURCE_CHECK}`;
  return {
    [part('subresource')]: (resource, subresource) => resource.with({ subresource }),
    [part('namespace')]: (resource, namespace) => resource.with({ namespace }),
    [part('name')]: (resource, name) => resource.with({ name }),
    // Roles say nothing of selectors.
    [part('fieldSelector')]: (resource) => resource,
    [part('labelSelector')]: (resource) => resource,
  };
}

function serviceAccount({ authority }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (checkDns1123Subdomain(name).length > 0) throw new EvaluationError('Invalid service account name');
  if (checkDns1123Label(namespace).length > 0) throw new EvaluationError('Invalid service account namespace');
  return new AuthorizerValue(authority.forServiceAccount(namespace, name));
}

function check(authority: Authority, question: AccessAttributes): Decision {
  meter.charge(COST_OF_A_CHECK);
  return new Decision(authority.decide(question));
}

function notEmpty(text: string, what: string): string {
  if (text.trim() === '') throw new EvaluationError(`${what} must not be empty`);
  return text;
}
