import { Controller, Get, Inject, NotFoundException, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { ObjectList, ObjectPage } from '../../insight/object-pages/index.js';
import {
  OBJECT_TYPES,
  listObjects,
  objectType,
  readObjectPage,
  wordOf,
} from '../../insight/object-pages/index.js';
import { isSignedIn } from './access.middleware.js';
import { answered } from './api-answers.js';
import { CallerClient, readerOf } from './caller-client.js';
import { parseName, parseScope, parseText } from './request-parsing.js';
import { Shows } from './route-sight.js';

/** A kind whose objects have pages. */
interface ObjectKind {
  /** As it is in addresses. */
  readonly word: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The objects of the cluster as people look at them: with the rights of the caller. */
@Controller('admin/objects')
@Shows('caller')
export class ObjectsController {
  constructor(@Inject(CallerClient) private readonly callers: CallerClient) {}

  @Get()
  kinds(): readonly ObjectKind[] {
    return OBJECT_TYPES.map((type) => ({
      word: wordOf(type),
      kind: type.kind,
      namespaced: type.namespaced,
    }));
  }

  @Get(':kind')
  list(
    @Param('kind') word: string,
    @Query('namespace') namespace: unknown,
    @Query('find') find: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ObjectList> {
    const type = namedType(word);
    const scope = type.namespaced ? parseScope(namespace) : undefined;
    const filter = { find: parseText(find, 'find'), ...(scope !== undefined && { namespace: scope }) };
    return answered(listObjects(this.callers.of(request, response).client, type, filter));
  }

  @Get(':kind/:namespace/:name')
  namespaced(
    @Param() { kind, name, namespace }: Record<'kind' | 'name' | 'namespace', string>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ObjectPage> {
    const ref = { namespace: parseName(namespace, 'namespace'), name: parseName(name, 'name') };
    return this.page(namedType(kind, true), ref, request, response);
  }

  @Get(':kind/:name')
  ofCluster(
    @Param() { kind, name }: Record<'kind' | 'name', string>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ObjectPage> {
    return this.page(namedType(kind, false), { name: parseName(name, 'name') }, request, response);
  }

  private page(
    type: ResourceType,
    ref: ObjectRef,
    request: Request,
    response: Response,
  ): Promise<ObjectPage> {
    const caller = this.callers.of(request, response);
    const hidesValues = !isSignedIn(response);
    return answered(readObjectPage(caller.client, type, ref, { hidesValues, ...readerOf(caller) }));
  }
}

/** @throws NotFoundException for a kind without pages, or that is not of this scope */
function namedType(word: string, namespaced?: boolean): ResourceType {
  const type = objectType(word);
  if (!type) throw new NotFoundException({ error: `"${word.slice(0, 100)}" is no kind that has pages` });
  if (namespaced !== undefined && type.namespaced !== namespaced)
    throw new NotFoundException({
      error: `a ${type.kind} is in ${namespaced ? 'no' : 'a'} namespace: objects/${word}/${namespaced ? '' : 'NAMESPACE/'}NAME`,
    });
  return type;
}
