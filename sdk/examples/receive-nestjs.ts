// A controller for NestJS on Express. The signature covers the raw body, so keep it, and raise the limit of
// 100 KB, because callbacks carry documents:
//
//   const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true })
//   app.useBodyParser('json', { limit: '16mb' })

import { Controller, Post, Req, Res } from '@nestjs/common'
import { createReceiver } from '@paybell/sdk'
import { type NodeRequest, type NodeResponse, toExpressHandler } from '@paybell/sdk/adapters'

@Controller('hook')
export class PaybellController {
  private readonly handle = toExpressHandler(
    createReceiver({
      sharedKey: process.env.SHARED_KEY ?? '',
      onPayment: (payment, { event }) => console.log(event, payment.id, payment.amount.amount),
    }),
  )

  @Post()
  async receive(@Req() request: NodeRequest, @Res() response: NodeResponse): Promise<void> {
    await this.handle(request, response)
  }
}
