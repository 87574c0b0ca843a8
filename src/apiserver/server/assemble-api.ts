import { networkInterfaces } from 'node:os';
import { Admission } from '../access/admission/index.js';
import type { ApiServerMetrics } from './api-server-metrics.js';
import type { ApiServerOptions } from './api-server.options.js';
import { Authenticator, createSigningKey, ServiceAccountTokens } from '../access/auth/index.js';
import { Authorizer, NodeAccess } from '../access/authorization/index.js';
import { ClusterRoleAggregation } from './bootstrap/aggregate-cluster-roles.js';
import { NODE_RULES } from './bootstrap/default-roles.js';
import { ApiEndpoints } from './bootstrap/api-endpoints.js';
import { ExtensionGroups } from './background/extension-groups.js';
import { ensureInitialObjects } from './bootstrap/ensure-initial-objects.js';
import { VersionConverter } from '../kinds/conversion/index.js';
import { CustomResources } from './background/custom-resources/custom-resources.js';
import { EventExpiry } from './background/event-expiry.js';
import { PolicyStatus } from './background/policy-status/policy-status.js';
import { ProtobufAnswers } from '../http/protobuf/protobuf-answers.js';
import type { RegistryContext } from '../objects/registry/index.js';
import { Router } from './routing/router.js';
import type { AccessControl } from './routing/router.js';
import { FollowedResources, withStorageMetrics } from '../storage/index.js';
import { SharedEvents } from '../objects/registry/shared-events.js';
import { storedObjectCheck } from './background/stored-object-check.js';
import { ServiceAddresses, WebhookClient } from '../kinds/webhook-client/index.js';

/** The parts of an API server that serve requests. */
export interface AssembledApi extends AccessControl {
  readonly router: Router;
  /** The message of a body; undefined for what has none. */
  readonly toProtobuf: (body: object) => Buffer | undefined;
  /** Does what has to be done before the first request, and starts the background work, which runs until `signal` aborts. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Publishes the address of the server to the clients inside the cluster. */
  announce(url: string, signal: AbortSignal): Promise<void>;
  /** Resolves when all that {@link prepare} has started has ended. */
  ended(): Promise<void>;
}

/**
 * Wires together the parts between a request and the store. Starts nothing.
 * @param address `host:port` as clients reach the server; asked for once it listens
 */
export function assembleApi(
  options: ApiServerOptions,
  metrics: ApiServerMetrics,
  address: () => string,
): AssembledApi {
  const { clock, flags = {}, kinds, logger, schemas } = options;
  const { authenticator, authorizer, context, definitions, followed, nodes } = assembleParts(
    options,
    metrics,
  );
  const aggregation = new ClusterRoleAggregation(context, authorizer.policy, followed);
  const policyStatus = new PolicyStatus(context, followed);
  const extensions = new ExtensionGroups(context, followed);
  const expiry = new EventExpiry({ storage: options.storage, clock, logger });
  const protobuf = new ProtobufAnswers(kinds, schemas);
  const serving = { unreadable: followed.unreadable, protobuf, extensions, flags, startedAtMs: clock.now() };
  const background: Promise<void>[] = [];
  return {
    authenticator,
    authorizer,
    router: new Router(context, address, { authenticator, authorizer }, serving),
    toProtobuf: (body) => protobuf.encode(body),
    async prepare(signal) {
      await followed.load();
      nodes.begin(signal);
      background.push(followed.run(signal), definitions.run(signal), expiry.run(signal));
      await ensureInitialObjects(context);
      await aggregation.aggregate();
      background.push(aggregation.run(signal), policyStatus.run(signal), extensions.run(signal));
    },
    async announce(url, signal) {
      const endpoints = new ApiEndpoints(context, url, options.interfaces ?? networkInterfaces());
      await endpoints.ensure({ isStart: true });
      background.push(endpoints.run(signal));
    },
    async ended() {
      await Promise.all([...background, nodes.ended()]);
    },
  };
}

/** The parts that decide what a user may do, and those that a write goes through. */
function assembleParts(options: ApiServerOptions, metrics: ApiServerMetrics) {
  const { clock, kinds, logger, random, schemas, token, users } = options;
  const measured = withStorageMetrics(options.storage, clock, (...operation) => metrics.stored(...operation));
  const following = { clock, logger, check: storedObjectCheck(kinds, schemas) };
  const followed = new FollowedResources(measured, following, (resource, count) =>
    metrics.unreadable(resource, count),
  );
  const { storage, unreadable } = followed;

  const nodes = new NodeAccess(measured, following, NODE_RULES);
  const authorizer = new Authorizer({ followed, kinds, nodes, isOpen: token === undefined });
  const tokens = new ServiceAccountTokens(options.signingKey ?? createSigningKey(), storage, clock);
  const authenticator = new Authenticator({ token, users, serviceAccounts: tokens });

  const base = { storage, kinds, schemas, clock, random, logger };
  const webhooks =
    options.webhookCaller ?? new WebhookClient(new ServiceAddresses(storage, options.webhookServices), clock);
  const converter = new VersionConverter(webhooks, schemas);
  const admission = new Admission(
    { ...base, followed, access: authorizer, converter },
    {
      disabled: options.disabledAdmissionPlugins,
      webhooks,
      unknownAccounts: options.unknownServiceAccounts,
      checks: options.checks,
    },
  );
  const definitions = new CustomResources({ clock, followed, kinds, schemas }, () => context);
  const events = new SharedEvents();
  const context: RegistryContext = {
    ...base,
    ...{ admission, events, tokens, converter, definitions, unreadable },
  };
  return { authenticator, authorizer, context, definitions, followed, nodes };
}
