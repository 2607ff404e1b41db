/case 25608:/,/return/d
