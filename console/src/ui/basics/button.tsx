import type { ComponentProps } from 'react'

export interface ButtonProps extends ComponentProps<'button'> {
  look?: 'plain' | 'primary' | 'danger' | 'bare'
  isSmall?: boolean
}

export function Button({ look = 'plain', isSmall = false, className, ...rest }: ButtonProps) {
  const classes = [
    'button',
    look === 'plain' ? '' : `button-${look}`,
    isSmall ? 'button-small' : '',
    className ?? '',
  ]
  return <button type="button" className={classes.filter(Boolean).join(' ')} {...rest} />
}
