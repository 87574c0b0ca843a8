import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Inject, Injectable, SetMetadata, UseInterceptors, applyDecorators } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { of } from 'rxjs';
import { AdminPorts } from './admin-ports.js';
import { isOfOneReplica, passOf } from './caller-pass.js';
import type { AnswerForm } from './peer-answers.js';
import { parseKeyText } from './request-parsing.js';
import { SlotReplicas } from './slot-replicas.js';

/** With slots, routes with this are answered by the replica that works on the namespace in their path, or on the key in their query or body. */
export function AnsweredByOwner(form: AnswerForm): MethodDecorator {
  return applyDecorators(SetMetadata(FORM, form), UseInterceptors(OwnerInterceptor));
}

const FORM = 'rollkeeper:form-of-answer';

/** Runs after the check that the caller may see the namespace; the owner checks it once more. */
@Injectable()
class OwnerInterceptor implements NestInterceptor {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(SlotReplicas) private readonly replicas: SlotReplicas,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request: Request = http.getRequest();
    const namespace = isOfOneReplica(request) ? undefined : this.namespaceOf(request);
    if (namespace === undefined) return next.handle();
    const response: Response = http.getResponse();
    const { originalUrl: url } = request;
    // The answer to HEAD is that to GET without its body, which is what Express makes of it.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const body: unknown = request.body;
    const passed = {
      ...{ method, namespace, url, pass: passOf(request, response) },
      form: Reflect.getMetadata(FORM, context.getHandler()) as AnswerForm,
      ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
    };
    const answered = await this.replicas.answerOfOwner(passed, response);
    if (!answered) return next.handle();
    // The log of the owner has the address of this replica where it has that of callers.
    if (method !== 'GET') this.notePassed(namespace, request);
    return of(answered.answer);
  }

  private notePassed(namespace: string, { body, method, path, socket }: Request): void {
    const { key }: { readonly key?: unknown } = (body as object | undefined) ?? {};
    const from = socket.remoteAddress;
    const owner = this.ports.slots?.()?.ownerOf(namespace);
    this.ports.logger.info('a change was passed to the owner of its namespace', {
      ...{ owner, method, path, from },
      ...(typeof key === 'string' && { key }),
    });
  }

  /** Undefined: the request is about nothing that slots spread. */
  private namespaceOf({ body, params, query }: Request): string | undefined {
    const slots = this.ports.slots?.();
    const { controller, namespace } = params;
    if (!slots || typeof namespace === 'string') return slots && String(namespace);
    if (!slots.spreads(String(controller))) return undefined;
    const { key }: { readonly key?: unknown } = (body as object | undefined) ?? {};
    return slots.namespaceOf(String(controller), parseKeyText(query['key'] ?? key)) ?? '';
  }
}
