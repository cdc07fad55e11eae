// Runs behind the library: one formula as MathML, of the elements below and without styles. Those
// that matter are classes. What the library marks as not allowed is an error.
(tex, block) => {
  const elements = new Set(['math', 'mrow', 'mi', 'mn', 'mo', 'ms', 'mtext', 'mspace', 'mfrac', 'msqrt', 'mroot',
    'msub', 'msup', 'msubsup', 'munder', 'mover', 'munderover', 'mmultiscripts', 'mprescripts', 'none', 'mtable',
    'mtr', 'mtd', 'mstyle', 'mpadded', 'mphantom'])
  const classes = {
    borderTop: 'rule-top', borderBottom: 'rule-bottom', borderLeft: 'rule-left', borderRight: 'rule-right',
    border: 'tml-fbox', paddingLeft: 'flush-left', paddingRight: 'flush-right', mathDepth: 'accent', 'math-depth': 'accent',
  }
  const enclosures = ['tml-overline', 'tml-underline', 'tml-fbox', 'upstrike', 'downstrike', 'sout', 'tml-xcancel']
  const kept = new Set([...enclosures, ...Object.values(classes), 'enclosed', 'tml-cancel', 'tml-left', 'tml-right', 'tml-jot',
    'wide-left', 'wide-right', 'chr-sml', 'chr-med', 'chr-lrg', 'tml-hat-1', 'tml-hat-2', 'tml-tilde-2', 'tml-tilde-3'])
  const refused = '#fe0001'
  // Equations have no numbers.
  const unnumbered = tex.replace(/\\(begin|end)\{(align|alignat|equation|gather|multline)\}/g, '\\$1{$2*}')
  const root = temml.__renderToMathMLTree(unnumbered, {
    displayMode: block, throwOnError: true, errorColor: refused, maxExpand: 300, maxSize: [20, 100], wrap: 'none',
  })
  const bare = (node) => {
    if (typeof node.text === 'string') return
    if (node.type === 'mo' && /^[\u2061-\u2064]$/.test(node.toText())) { // an invisible operator
      node.type = 'mrow'
      node.children = []
    }
    if (node.type === 'menclose' && [node, ...node.children].some((n) => n.classes?.some((c) => enclosures.includes(c)))) {
      node.type = 'mrow'
      node.classes.push('enclosed')
    }
    const fragment = node.children && !node.type && !node.attributes && !node.href
    if (!fragment && !elements.has(node.type)) throw new Error(`${node.type} is not shown`)
    for (const [name, value] of Object.entries(node.style ?? {})) {
      if (value === refused) throw new Error('not allowed')
      if (name.startsWith('padding') && value === '1em') node.classes.push(`wide-${name.slice(7).toLowerCase()}`)
      if (classes[name] && (name.startsWith('border') || parseFloat(value) === 0)) node.classes.push(classes[name])
    }
    node.style = {}
    node.classes = node.classes?.filter((name) => kept.has(name))
    for (const child of node.children) bare(child)
  }
  bare(root)
  return root.toMarkup()
}
