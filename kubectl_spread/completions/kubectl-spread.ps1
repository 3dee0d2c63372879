# Completes the command `kubectl-spread` in PowerShell; in $PROFILE:
#   kubectl-spread completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName 'kubectl-spread' -ScriptBlock {
    param($typed, $line, $cursor)

    $words = @($line.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { "$_" })
    if ($typed -eq '') { $words += '' }
    $program, $arguments = $words
    # Windows PowerShell, and PowerShell before 7.3, drop an empty argument unless it is quoted.
    if ($typed -eq '' -and $PSNativeCommandArgumentPassing -notin 'Standard', 'Windows') { $arguments[-1] = '""' }

    # A flag's value comes without its flag, and PowerShell replaces both.
    $flag = if ($typed -match '^--[^=]+=') { $Matches[0] } else { '' }
    & $program __complete @arguments 2>$null | Where-Object { $_ -notmatch '^:' } | ForEach-Object {
        $word, $description = $_ -split "`t", 2
        $tip = if ($description) { $description } else { $word }
        [System.Management.Automation.CompletionResult]::new("$flag$word", $word, 'ParameterValue', $tip)
    }
}
