import { Controller, Get } from '@nestjs/common';
import { OPENAPI_DOCUMENT } from './openapi-document.js';

/** The description of everything that the admin port serves. */
@Controller('admin')
export class OpenApiController {
  @Get('openapi.json')
  document(): typeof OPENAPI_DOCUMENT {
    return OPENAPI_DOCUMENT;
  }
}
