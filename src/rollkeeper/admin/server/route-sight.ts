import type { CallHandler, CustomDecorator, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { HttpException, Inject, Injectable, SetMetadata } from '@nestjs/common';
import type { Request, RequestHandler, Response } from 'express';
import type { Observable } from 'rxjs';
import { mergeMap } from 'rxjs';
import type { ShownSpan } from '@rollkeeper/opentelemetry';
import { userOf } from './access.middleware.js';
import { CallerClient } from './caller-client.js';
import { CallerSights } from './caller-sights.js';
import { seenAnswer, seenSpans } from './seen-answers.js';
import { parseKeyText } from './request-parsing.js';

/**
 * How a route of the admin port keeps to the namespaces that a user of the cluster may see. Holders of the admin token and
 * local users see everything.
 *
 * - `cluster`: its answer names no object of a namespace.
 * - `caller`: it reads the API with the rights of the caller, or filters by itself (a stream, a session).
 * - `keys`: its answer loses everything about objects of other namespaces.
 * - `namespace`: it is about the namespace in its path, and refused if that may not be seen.
 * - `key`: it is about the key in its query or body, and refused likewise.
 * - `spans`: it answers with spans; those about objects of other namespaces are left out.
 * - `everything`: its answer cannot be taken apart, so only users who see all namespaces get it.
 */
type RouteSight = 'cluster' | 'caller' | 'keys' | 'namespace' | 'key' | 'spans' | 'everything';

const SIGHT = 'rollkeeper:route-sight';

/** Declares what a route, or every route of a controller, shows: see {@link RouteSight}. */
export function Shows(sight: RouteSight): CustomDecorator {
  return SetMetadata(SIGHT, sight);
}

/** The declaration of a handler, or of its class. Undefined: there is none. */
export function sightOf(handler: object, controller: object): RouteSight | undefined {
  const declared: unknown = Reflect.getMetadata(SIGHT, handler) ?? Reflect.getMetadata(SIGHT, controller);
  return declared as RouteSight | undefined;
}

/** The one filter of everything that the admin port tells a user of the cluster about objects. */
@Injectable()
export class SightInterceptor implements NestInterceptor {
  constructor(
    @Inject(CallerClient) private readonly callers: CallerClient,
    @Inject(CallerSights) private readonly sights: CallerSights,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const response: Response = http.getResponse();
    const shows = sightOf(context.getHandler(), context.getClass());
    if (userOf(response) === undefined || shows === undefined || shows === 'cluster' || shows === 'caller')
      return next.handle();
    const request: Request = http.getRequest();
    const caller = this.callers.of(request, response);
    const needed = namespaceNeeded(shows, request);
    if (needed !== undefined) await this.sights.assertSees(caller, needed);
    const sight = this.sights.of(caller);
    switch (shows) {
      case 'keys':
        return next.handle().pipe(mergeMap((answer) => seenAnswer(answer, sight)));
      case 'spans':
        return next.handle().pipe(mergeMap((answer) => seenSpans(answer as readonly ShownSpan[], sight)));
      default:
        return next.handle();
    }
  }
}

/** For pages that no controller serves, and whose answers cannot be taken apart: refuses users who do not see all namespaces. */
export function onlyForAllSeers(callers: CallerClient, sights: CallerSights): RequestHandler {
  return (request, response, next) => {
    if (userOf(response) === undefined) return next();
    sights.assertSees(callers.of(request, response), '').then(
      () => next(),
      (error: unknown) => {
        if (!(error instanceof HttpException)) return next(error);
        response.status(error.getStatus()).json(error.getResponse());
      },
    );
  };
}

/** The namespace without which the whole route is refused; empty: all of them. */
function namespaceNeeded(shows: RouteSight, { body, params, query }: Request): string | undefined {
  switch (shows) {
    case 'namespace':
      return String(params['namespace']);
    case 'key': {
      const [namespace = '', name] = parseKeyText(query['key'] ?? (body as KeyBody)?.key).split('/');
      return name === undefined ? '' : namespace;
    }
    case 'everything':
      return '';
    default:
      return undefined;
  }
}

type KeyBody = { readonly key?: unknown } | undefined;
